"""detect-secrets on lines: JSON texts on standard input, for each {"found": [values], "us": microseconds} out."""

import json
import sys
import time

from detect_secrets.core.scan import scan_line
from detect_secrets.settings import default_settings

with default_settings():
    for row in sys.stdin:
        lines = json.loads(row).split("\n")
        start = time.process_time_ns()
        found = [secret.secret_value for line in lines for secret in scan_line(line)]
        spent = (time.process_time_ns() - start) / 1000
        print(json.dumps({"found": [value for value in found if value], "us": spent}), flush=True)
