"""Ways out of programs for pictures, sound and film: scripts among formats, filters that load code, Perl in templates."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.gtfobins.general import Kind, file, runs
from agent.risk.reader.invocation import Invocation
from agent.risk.reader.words import Word
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_CODER = LazyPattern(r"(?:-?)([A-Za-z][\w-]*):(.*)", re.S)
_PICTURES_NAMES = """
png png8 png24 png32 jpg jpeg jpe jp2 jxl gif bmp tif tiff webp ico heic avif xc canvas gradient radial-gradient plasma pattern rose logo
wizard granite netscape null miff mpc pnm ppm pgm pbm pam rgb rgba gray cmyk yuv info json histogram label caption psd svg pdf xpm xbm dds
exr hdr tga pcx sgi fits dng cr2 nef raw fractal hald tile magick
"""
_PICTURES = frozenset(_PICTURES_NAMES.split())
_MARGINS = frozenset(("fx", "hsl", "lab", "srgb", "channel", "compose", "distort"))
_FILTERS_NAMES = """
scale crop pad fps format setsar setdar transpose hflip vflip rotate trim atrim setpts asetpts null anull nullsink anullsink copy acopy
split asplit concat overlay hstack vstack xstack blend fade afade volume volumedetect astats ebur128 loudnorm dynaudnorm aresample aformat
amix amerge pan atempo adelay aecho highpass lowpass bandpass bandreject equalizer bass treble silencedetect silenceremove showinfo
ashowinfo blackdetect blackframe blackborder cropdetect freezedetect idet interlace yadif bwdif deinterlace decimate mpdecimate thumbnail
tile select aselect selectivecolor eq hue colorbalance colorchannelmixer colorlevels curves unsharp gblur boxblur avgblur smartblur hqdn3d
nlmeans deflicker deshake negate lutyuv lutrgb lut drawbox drawgrid palettegen paletteuse zoompan minterpolate tblend framestep settb
asettb setparams setrange colorspace zscale tonemap reverse areverse loop aloop apad acompressor agate alimiter compand channelsplit
channelmap join showwaves showwavespic showspectrum showspectrumpic avectorscope showcqt showfreqs psnr ssim vmaf libvmaf testsrc testsrc2
smptebars smptehdbars color colour nullsrc anullsrc sine aevalsrc anoisesrc mandelbrot life cellauto rgbtestsrc yuvtestsrc signalstats
entropy scdet siti vidstabtransform chromakey colorkey alphaextract alphamerge premultiply drawtext interleave ainterleave
sidechaincompress stereo3d v360 vignette noise fieldmatch telecine pullup shuffleframes random asetrate asetnsamples aphaser flanger
chorus tremolo vibrato stereotools extrastereo earwax crossfeed afftdn anlmdn acrossfade xfade
"""
_FILTERS = frozenset(_FILTERS_NAMES.split())
_GRAPH_OPTIONS = LazyPattern(r"-(?:vf|af|lavfi|filter(?:_complex)?(?::.*)?)")
_WRITTEN_BY_FILTER = LazyPattern(
    r"(?:metadata=[^,;]*?\bfile|\w*_?stats_file|log_path|\bstats|vidstabdetect=[^,;]*?\bresult|signature=[^,;]*?\bfilename)"
    r"=([^:,;]+)"
)
_QUOTED = LazyPattern(r"'[^']*'|\\.", re.S)


def coders(walker: Walker, invocation: Invocation, word: Word) -> None:
    """`format:file` of ImageMagick: some formats are scripts, delete what they read, fetch, or open windows."""
    for other in invocation.words[1:]:
        text = other.text
        found = _CODER.fullmatch(text)
        odd = found is not None and found[1].lower() not in _PICTURES | _MARGINS and not text.startswith("-")
        if odd or (found is not None and found[2][:1] == "@") or text[:1] == "@" or text.lower().endswith(".msl"):
            reason = "reads {targets}, which may be a script, or delete, fetch or write what it names"
            walker.add("run", [other], invocation.place, reason=reason, rule="escape.coder")


def filters(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Filters of ffmpeg: files that they write, plug-ins that they load, and those that are not known."""
    words = invocation.words
    sources = any(other.text == "lavfi" for other in words)
    for index, other in enumerate(words[1:], 1):
        for found in _WRITTEN_BY_FILTER.finditer(other.text):
            name = found[1].strip("'\\")
            if name not in ("-", "/dev/stdout", "/dev/stderr", "pipe"):
                walker.add("write", [other.part(name)], invocation.place, invocation=invocation)
        if other.text.startswith("-/"):  # `-/filter:v FILE`: the option's value stands there
            walker.add("run", words[index + 1 : index + 2], invocation.place, rule="escape.options")
        behind = words[index - 1].text
        if _GRAPH_OPTIONS.fullmatch(behind) or (sources and other.text != "lavfi" and behind in ("-i", "-f", "lavfi")):
            graph(walker, invocation, other)
    if any("vidstabdetect" in other.text and "result=" not in other.text for other in words):
        walker.add("write", [word.part("transforms.trf")], invocation.place, invocation=invocation)


def graph(walker: Walker, invocation: Invocation, word: Word) -> None:
    """One graph of filters: each has to be known."""
    if word.text.startswith("-"):
        return
    for piece in re.split(r"[;,]", _QUOTED.sub("_", word.text)):
        name = re.sub(r"^(?:\s*\[[^\]]*\])*\s*", "", piece)
        name = re.split(r"[=@\[\s]", name, maxsplit=1)[0]
        if name and name not in _FILTERS and not re.fullmatch(r"[\d.)(]+|sws_flags|.*\)", name):
            reason = "uses {targets}, a filter that may load code or read, fetch and write files"
            walker.add("run", [word.part(name)], invocation.place, reason=reason, rule="escape.filter")


def expressions(walker: Walker, invocation: Invocation, word: Word) -> None:
    """exiftool's Perl: in `-if`, in filters, and behind `;` in `${TAG;…}` of formats."""
    from agent.risk.inline import code as inline_code

    words = invocation.words
    for other, value in pairwise(words[1:]):
        option, text = other.text.lower(), value.text
        if option in ("-p", "-printformat") and "$" not in text:
            file(walker, invocation, value)
        elif option in ("-p", "-printformat", "-d", "-w", "-echo", "-o", "-tagout"):
            for found in re.finditer(r"\$\{[^};]*;(.*?)\}", text, re.S):
                inline_code.judge(walker, invocation, found[1], "perl", value.taint)
        elif re.fullmatch(r"-if\d*", option) and other.text != "-if":
            inline_code.judge(walker, invocation, text, "perl", value.taint)
            runs(walker, invocation, value)
        elif re.fullmatch(r"-(?:(?:w|textout|tagout|efile)\d*[+!:]*\d*|delete_original!)", option) and option != "-w":
            reason = "changes files, or writes more beside them"
            walker.add("create", [], invocation.place, level=Level.MEDIUM, reason=reason)
        elif option == "-api" and re.match(r"\s*(?:filter|compact|config)", text, re.I):
            runs(walker, invocation, value)


MEDIA: dict[str, Kind] = {"coders": coders, "filters": filters, "graph": graph, "expressions": expressions}
