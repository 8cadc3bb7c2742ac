"""Code that only prints is told from code that does something, however that is written."""

from __future__ import annotations

from agent.protocol.decisions import RiskContext
from agent.risk.classifier import classify
from agent.risk.inert_code import MAX_LENGTH, only_prints
from tests.support.each import each

PRINTS = [
    ("python", "print('os.system(\"rm -rf /\")')"),
    ("python", 'import re; print(re.sub("rm", "xx", "rm -rf /"))'),
    ("python", "import socket; print(socket.gethostname())"),
    ("python", "import urllib.parse as u; print(u.quote('rm -rf /'))"),
    ("python", "import ast,sys; print(ast.dump(ast.parse('eval(x)')))"),
    ("python", "text = 'subprocess.run'\nfor w in text.split('.'):\n    print(w, len(w))"),
    ("perl", 'print "system(rm)\\n"'),
    ("perl", "print 'unlink', \"\\n\""),
    ("lua", 'print("os.execute")'),
    ("php", 'echo json_encode(["rm" => "-rf"]), PHP_EOL;'),
    ("ruby", "puts 'system(\"x\")'"),
    ("node", "console.log('require(\"child_process\")')"),
]
DOES = [
    ("python", "dict(open=1); open('x','w')"),
    ("python", "f=lambda exec=1: 0; exec('1')"),
    ("python", "import os; os.system('x')"),
    ("python", "import sys; sys.modules['os'].system('id')"),
    ("python", "exec('x')"),
    ("python", "print(open('f').read())"),
    ("python", "# '\nimport os; os.system('id') # '"),
    ("python", 'print(f\'{__import__("os").system("id")}\')'),
    ("python", "getattr(re,'x')"),
    ("python", "os=1;import os;os.replace('a','b')"),
    ("python", "from os import replace as join; join('a','b')"),
    ("python", "import re\\\n,os; os.remove('a')"),
    ("python", "import json;json.codecs.sys"),
    ("python", "from os import *; system('id')"),
    ("python", "print=eval; print('1')"),
    ("python", "import socket; s=socket.socket(); s.connect(('a',1))"),
    ("python", "import urllib.request as get; get.get('x')"),
    ("python", "'''\n'; import os; os.system('id')\n'''"),
    ("python", "a='''x'''; import os\nos.replace('a','b')"),
    ("python", "if True: import os; os.replace('a','b')"),
    ("python", " import os as re; re.replace('a','b')"),
    ("python", "for x in [1]: from os import replace; replace('a','b')"),
    ("perl", "print \"@{[system('id')]}\""),
    ("perl", 'print "$h{system(q(id))}"'),
    ("perl", "print `id`"),
    ("perl", "print $x->('id')"),
    ("perl", "/'/;system('id');/'/"),
    ("perl", "print q(');system('id');#')"),
    ("perl", "y'a'b'; unlink 'x'"),
    ("perl", "print <$_>"),
    ("perl", 'my $x="print"; &$x'),
    ("perl", "print \"${\\system('id')}\""),
    ("perl", "open F,'>x'"),
    ("perl", "print reverse sort <*>"),
    ("perl", "print $#x'"),
    ("ruby", "puts \"#{system('id')}\""),
    ("ruby", "puts :x.send('system','id')"),
    ("ruby", "p %x(id)"),
    ("ruby", "puts 'a'.to_sym"),
    ("php", "echo 'sys'.'tem'; ('sys'.'tem')('id');"),
    ("php", "$f='system'; $f('id');"),
    ("php", "echo \"{$f('id')}\";"),
    ("php", "echo \"${f('id')}\";"),
    ("php", "$x[0]('id')"),
    ("php", "'system'('id')"),
    ("node", "console['log'].constructor('x')()"),
    ("node", "[].map.constructor('x')()"),
    ("node", "console.log`x`"),
    ("node", "String['constr'+'uctor']('id')()"),
    ("lua", "os.execute('id')"),
    ("lua", "string['rep']=os"),
    ("lua", "print[[x]]"),
    ("lua", "-- '\nos.execute('id') -- '"),
    ("lua", "_G['os']"),
]


@each(("language", "code"), PRINTS)
def test_code_that_only_prints(language: str, code: str) -> None:
    assert only_prints(code, language)


@each(("language", "code"), DOES)
def test_code_that_does_more_or_may_do_more(language: str, code: str) -> None:
    assert not only_prints(code, language)


def test_other_languages_and_long_code_are_left_to_the_scan() -> None:
    assert not only_prints("print('x')", "cobol")
    assert not only_prints("print('" + "x" * MAX_LENGTH + "')", "python")


def test_code_with_parts_that_are_not_known_is_scanned() -> None:
    context = RiskContext()
    assert classify("""python3 -c 'print("os.system(1)")'""", context).level.value == "low"
    assert classify("""python3 -c 'print("'"$X"'")'""", context).level.value != "low"
