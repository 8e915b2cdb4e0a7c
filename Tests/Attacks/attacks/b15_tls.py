"""What TLS and DTLS agree to."""

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
        secure, _ = await https_gateway(lab, folder, pair)
        findings = []
        scanned = 0
        for name, port in (("HTTPS", secure), ("SIP over TLS", lab.tls_port)):
            suites = set()
            # This machine's OpenSSL speaks no SSL 3; sslscan has an own one.
            for version, flag in (("TLS 1.0", "-tls1"), ("TLS 1.1", "-tls1_1")):
                scanned += 1
                if agreed(openssl("-connect", f"127.0.0.1:{port}", flag, "-cipher", "ALL:@SECLEVEL=0")):
                    findings.append(f"{name}: {version} is spoken")
            left = "ALL:COMPLEMENTOFALL:@SECLEVEL=0"
            while suite := agreed(openssl("-connect", f"127.0.0.1:{port}", "-tls1_2", "-cipher", left)):
                scanned += 1
                suites.add(suite)
                left = f"ALL:COMPLEMENTOFALL:{':'.join('!' + each for each in sorted(suites))}:@SECLEVEL=0"
                require(len(suites) < 100, "the list of suites ends")
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
                scanned += 1
                if agreed(openssl("-connect", f"127.0.0.1:{port}", "-curves", group)):
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


def agreed(said):
    """The suite of a connection that came up."""
    found = re.search(r"Cipher is ([A-Z0-9_-]+)", said)
    return found.group(1) if found else None
