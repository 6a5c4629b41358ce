"""The real trainers read what we write: a line for each check, and exit code 1 where one has failed.

    python trainers.py --data build [--checks 'DPO loading']
"""

from cases import main
from loading import check_loading
from others import check_others
from preferences import check_preferences

if __name__ == "__main__":
    main(__doc__, check_loading, check_preferences, check_others)
