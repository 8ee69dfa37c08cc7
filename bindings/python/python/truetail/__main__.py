"""``python -m truetail`` is the command ``truetail``."""

import sys

from truetail._command import main

sys.exit(main())
