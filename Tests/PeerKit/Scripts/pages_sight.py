"""What can be judged of a page by looking at it: its picture, and its use for people who cannot see it."""

import io

import av
import numpy
from axe_playwright_python.async_playwright import Axe

# Fewer colours than letters with soft edges have, or nothing but one colour, is a page without text.
LEAST_COLOURS = 12
MOST_OF_ONE = 0.985


async def violations(page):
    """What axe-core finds wrong: rule, help and the first elements."""
    results = await Axe().run(page)
    return [
        f"{each['id']}: {each['help']}: " + ", ".join(node["html"][:100] for node in each["nodes"][:3])
        for each in results.response["violations"]
    ]


async def picture(page, file):
    """Takes a picture of the whole page.
    Returns its colours, the share of the commonest one and the mean brightness from 0 to 1."""
    data = await page.screenshot(path=file, full_page=True, animations="disabled")
    with av.open(io.BytesIO(data)) as container:
        pixels = next(container.decode(video=0)).to_ndarray(format="rgb24").reshape(-1, 3)
    packed = pixels.astype(numpy.uint32) @ numpy.array([65536, 256, 1], dtype=numpy.uint32)
    _, counts = numpy.unique(packed, return_counts=True)
    return {
        "colours": int(len(counts)),
        "commonest": float(counts.max() / counts.sum()),
        "brightness": float(pixels.mean() / 255),
    }


def complaints(name, found, theme):
    """What is wrong with a picture."""
    if found["colours"] < LEAST_COLOURS or found["commonest"] > MOST_OF_ONE:
        yield f"{name} is blank: {found}"
    if (found["brightness"] < 0.5) != (theme == "dark"):
        yield f"{name} is not {theme}: {found}"


async def overflow(page):
    """Elements that stand out to the right of a narrow window, the first few; none where nothing can be scrolled."""
    return await page.evaluate(
        """() => {
          const width = document.documentElement.clientWidth;
          if (document.documentElement.scrollWidth <= width) return [];
          return [...document.body.querySelectorAll("*")].filter((node) => node.getBoundingClientRect().right > width + 1)
            .slice(0, 5).map((node) => node.outerHTML.slice(0, 100));
        }"""
    )
