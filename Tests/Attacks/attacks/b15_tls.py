"""What TLS and DTLS agree to."""

import contextlib
import pathlib
import shutil
import tempfile

from gateway_lab import Lab, Trunk
from ground import *

WEAK = ("NULL", "EXP", "RC4", "DES", "MD5", "IDEA", "SEED", "CAMELLIA", "ARIA", "CBC", "ADH", "AECDH", "PSK", "SRP")


async def attack(ground):
    """Class F, TLS on every listener.
    Evidence: CVE-2022-0778, ROBOT, BEAST, Sweet32; 2026's DTLS fixes of libssl.
    Must hold (rule A): HTTPS, WSS and SIP over TLS speak 1.2 and 1.3 only, with AEAD and ECDHE only, keys of P-256 or 2048
    bits at least, no compression, no renegotiation asked for by the client; DTLS the same."""
    folder = pathlib.Path(tempfile.mkdtemp())
    pair = certificate(folder)
    async with Lab("b15", trunks=[Trunk("first")], tls=pair) as lab:
        # HTTPS is a gateway of its own: the lab asks this one over HTTP.
        secure = lab.ports.take()
        findings = []
        text = lab.configuration().replace(f"bind: 127.0.0.1:{lab.http_port}", (
            f"bind: 127.0.0.1:{secure}\n  certificate: {pair[0]}\n  key: {pair[1]}"), 1)
        for old in (lab.sip_port, lab.tls_port):
            text = text.replace(f"bind: 127.0.0.1:{old}", f"bind: 127.0.0.1:{lab.ports.take()}")
        text = text.replace(f"port: {lab.app_media_port}", f"port: {lab.ports.take()}").replace(str(lab.state), str(folder / "other"))
        (lab.folder / "secure.yaml").write_text(text)
        (folder / "other").mkdir()
        await lab.started(*lab_command(lab, "secure.yaml"), stdout=asyncio.subprocess.DEVNULL,
                          stderr=asyncio.subprocess.DEVNULL)
        await until("HTTPS", lambda: connects(secure), 15, every=0.1)
        scanned = 0
        for name, port in (("HTTPS", secure), ("SIP over TLS", lab.tls_port)):
            suites = set()
            for version, flag in (("SSL 3", "-ssl3"), ("TLS 1.0", "-tls1"), ("TLS 1.1", "-tls1_1")):
                if "Cipher is (NONE)" not in openssl("-connect", f"127.0.0.1:{port}", flag, "-cipher", "ALL:@SECLEVEL=0"):
                    findings.append(f"{name}: {version} is spoken")
                scanned += 1
            for suite in ciphers():
                said = openssl("-connect", f"127.0.0.1:{port}", "-tls1_2", "-cipher", f"{suite}:@SECLEVEL=0")
                scanned += 1
                if "Cipher is (NONE)" not in said and "Cipher is" in said:
                    suites.add(suite)
            findings += [f"{name}: {suite}" for suite in suites
                         if any(weak in suite for weak in WEAK) or not suite.startswith("ECDHE-")
                         or not ("GCM" in suite or "CHACHA20" in suite or "CCM" in suite)]
            if not suites:
                findings.append(f"{name}: TLS 1.2 is not spoken at all")
            said = openssl("-connect", f"127.0.0.1:{port}", "-tls1_3")
            if "TLSv1.3" not in said:
                findings.append(f"{name}: TLS 1.3 is not spoken")
            if "Compression: NONE" not in said and "Expansion: NONE" not in said:
                findings.append(f"{name}: compression")
            for group in ("secp192r1", "sect163k1", "secp160r1"):
                if "Cipher is (NONE)" not in openssl("-connect", f"127.0.0.1:{port}", "-curves", group) and shutil.which("openssl"):
                    findings.append(f"{name}: group {group}")
            renegotiated = openssl("-connect", f"127.0.0.1:{port}", "-tls1_2", text="R\n", wait=True)
            if renegotiated.count("verify return:1") > 2:
                findings.append(f"{name}: the client may renegotiate")
            if shutil.which("sslscan"):
                report = subprocess.run(["sslscan", "--no-colour", "--no-failed", f"127.0.0.1:{port}"], capture_output=True,
                                        text=True, timeout=60).stdout
                findings += [f"{name}: {line.strip()}" for line in report.splitlines() if re.search(
                    r"(SSLv[23]|TLSv1\.[01])\s+enabled|vulnerable to heartbleed|(Accepted|Preferred)\s+TLSv1\.[01]|"
                    r"\s(?:56|40|112) bits", line) and "not vulnerable" not in line]
                scanned += 1
        # DTLS: an offer of DTLS 1.0 or of weak suites alone is not agreed to; aiortc's own is seen to be 1.2 with ECDHE.
        await hostile_carrier(lab, "first")
        app = await lab.app()
        voice = await Voice.start(app)
        connection = voice.peer._transceiver.sender.transport._ssl
        if connection.get_protocol_version_name() not in ("DTLSv1.2", "DTLSv1.3"):
            findings.append(f"DTLS: {connection.get_protocol_version_name()}")
        suite = connection.get_cipher_name()
        if not suite.startswith("ECDHE-") or not ("GCM" in suite or "CHACHA20" in suite):
            findings.append(f"DTLS: {suite}")
        profile = connection.get_selected_srtp_profile().decode()
        if profile not in ("SRTP_AEAD_AES_128_GCM", "SRTP_AEAD_AES_256_GCM", "SRTP_AES128_CM_SHA1_80"):
            findings.append(f"SRTP: {profile}")
        key = connection.get_peer_certificate().get_pubkey()
        if key.bits() < 256:
            findings.append(f"DTLS: a key of {key.bits()} bits")
        await voice.end()
        for name, change in {
            "weak suites": lambda context: context.set_cipher_list(b"AES128-SHA:AES256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:@SECLEVEL=0"),
            "without ECDHE": lambda context: context.set_cipher_list(b"AES128-GCM-SHA256:DHE-RSA-AES128-GCM-SHA256:@SECLEVEL=0"),
            "DTLS 1.0": lambda context: context.set_options(0x0C000000 | SSL_OP_NO_DTLS12),
        }.items():
            scanned += 1
            if await agrees(app, change):
                findings.append(f"DTLS: {name}")
        ground.none("B15", findings, "findings",
                    f"HTTPS, SIP over TLS and DTLS, {scanned} probes{'' if shutil.which('sslscan') else ' without sslscan'}; "
                    f"DTLS: {suite}, {profile}")
        await lab.idle()


SSL_OP_NO_DTLS12 = 0x08000000


async def agrees(app, change):
    """Whether a call comes up whose DTLS is changed so."""
    from aiortc import rtcdtlstransport

    make = rtcdtlstransport.RTCCertificate._create_ssl_context

    def weak(self, *arguments, **members):
        context = make(self, *arguments, **members)
        change(context)
        return context

    rtcdtlstransport.RTCCertificate._create_ssl_context = weak
    try:
        voice = await Voice.begin(app)
        try:
            await until("keys", lambda: voice.peer._has_connected, 2.5)
            return True
        except LabError:
            return False
        finally:
            await voice.call.hang_up()
            await voice.call.ended()
            await voice.close()
    finally:
        rtcdtlstransport.RTCCertificate._create_ssl_context = make


def lab_command(lab, configuration):
    from gateway_lab import binary

    return binary(), "serve", "--config", str(lab.folder / configuration)


def connects(port):
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    return False


def openssl(*arguments, text="", wait=False):
    process = subprocess.Popen(["openssl", "s_client", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        if wait:
            process.stdin.write(text)
            process.stdin.flush()
            time.sleep(0.4)
        return process.communicate(timeout=8)[0]
    except (subprocess.TimeoutExpired, BrokenPipeError):
        process.kill()
        return process.communicate()[0]


def ciphers():
    """All suites of TLS 1.2 that the machine's OpenSSL knows: of those a server could agree to."""
    text = subprocess.run(["openssl", "ciphers", "ALL:COMPLEMENTOFALL:@SECLEVEL=0"], capture_output=True, text=True).stdout
    return [name for name in text.strip().split(":") if not name.startswith("TLS_") and "PSK" not in name
            and "SRP" not in name]
