"""`twotier-calibrate`: measures two CPU tiers on this host, for the simulator and the manager."""

import sys

from nova_twotier.calibration import arguments


def main(args: list[str] | None = None) -> int:
    options = arguments.parse(sys.argv[1:] if args is None else args)
    # Late, so that --help needs none of its libraries.
    from nova_twotier.calibration import command

    try:
        command.run(options)
    except KeyboardInterrupt:
        print("twotier-calibrate: interrupted; all control groups are removed", file=sys.stderr)
        return 130
    except command.ERRORS as error:
        return _fail(error)
    return 0


def _fail(message: object) -> int:
    print(f"twotier-calibrate: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
