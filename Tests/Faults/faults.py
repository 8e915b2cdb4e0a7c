"""All faults, in the order in which they run."""

import fault_clock  # noqa: F401
import fault_command  # noqa: F401
import fault_machine  # noqa: F401
import fault_money  # noqa: F401
import fault_overload  # noqa: F401
import fault_process  # noqa: F401
import fault_recording  # noqa: F401
import fault_store  # noqa: F401
import fault_trunk  # noqa: F401
from fault import ALL  # noqa: F401
