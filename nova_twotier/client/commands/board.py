"""`openstack twotier board`."""

import html
import pathlib
import sys
import tempfile
import webbrowser

from osc_lib.command import command
from osc_lib.exceptions import CommandError

from nova_twotier.client import arguments, board, tables


class ServeBoard(tables.OneLineOfError, command.Command):
    """Serve the board for a browser on this machine, with the session of this command

    It prints the address to open, and serves until you press Ctrl-C. The page acts with your
    rights: pass the address on to nobody. The operator need not have switched the board on.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--port",
            type=arguments.port,
            default=0,
            metavar="<port>",
            help="port on the loopback address, such as 8783 for a tunnel (default: a free one)",
        )
        parser.add_argument(
            "--open", action="store_true", help="open the page in your browser, too"
        )
        return parser

    def take_action(self, parsed_args):
        try:
            server = board.Server(self.app.client_manager.twotier, parsed_args.port)
        except OSError as error:
            raise CommandError(f"port {parsed_args.port}: {error.strerror}") from error
        with server, tempfile.TemporaryDirectory(prefix="twotier-board-") as directory:
            print(server.url, file=self.app.stdout, flush=True)
            print("The board acts with your rights until you press Ctrl-C.", file=sys.stderr)
            if parsed_args.open:
                webbrowser.open(_page_to(server.url, pathlib.Path(directory)).as_uri())
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                print("\nThe board has ended.", file=sys.stderr)


def _page_to(url: str, directory: pathlib.Path) -> pathlib.Path:
    """Write a private page that redirects to the address, which `ps` would show to all users.

    :param directory: that only this user may enter.
    """
    page = directory / "board.html"
    page.write_text(f'<meta http-equiv="refresh" content="0; url={html.escape(url)}">\n')
    return page
