"""Start quickly: load parts of the standard library when they are first used, and our own modules by a short way."""

import sys

from . import late_modules, module_finder

sys.meta_path.insert(0, module_finder.QuickFinder)
late_modules.import_common_modules()
end = late_modules.end  # then later imports load at once: threads follow, and the loop
