"""`python -m backend` is `openhype`."""

import sys


def run() -> None:
    """Run the command line; an interruption while it is still being imported ends in a line, too."""
    try:
        from backend.cli import main

        main()
    except KeyboardInterrupt:
        sys.stderr.write("openhype: interrupted\n")
        sys.exit(130)
    except ModuleNotFoundError as error:  # installed with --no-deps
        from backend.foundation.optional_packages import not_installed

        sys.stderr.write(f"openhype: {not_installed('the command', error.name or str(error))}\n")
        sys.exit(1)


if __name__ == "__main__":
    run()
