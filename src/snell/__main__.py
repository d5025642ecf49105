"""`python -m snell`"""

import sys

from snell.doors.cli import main

sys.exit(main())
