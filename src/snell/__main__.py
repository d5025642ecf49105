"""`python -m snell`"""

import sys

from snell.cli.main import main

sys.exit(main())
