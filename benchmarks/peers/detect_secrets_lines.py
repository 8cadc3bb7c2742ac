"""detect-secrets on texts: JSON texts on standard input, for each {"found": [values], "us": microseconds} out.

The argument says how: `line` as it looks at single strings, `file` as it looks at files, which wants quotes around random strings.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from detect_secrets.core.scan import scan_file, scan_line
from detect_secrets.settings import default_settings

whole = sys.argv[1:] == ["file"]
with default_settings(), tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "output.txt"
    for row in sys.stdin:
        text = json.loads(row)
        if whole:
            path.write_text(text)
        start = time.process_time_ns()
        secrets = scan_file(str(path)) if whole else (secret for line in text.split("\n") for secret in scan_line(line))
        found = [secret.secret_value for secret in secrets]
        spent = (time.process_time_ns() - start) / 1000
        print(json.dumps({"found": [value for value in found if value], "us": spent}), flush=True)
