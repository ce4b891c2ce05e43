"""`python -m sfumato` is the command `sfumato`."""

from sfumato.cli import main

main()
