"""The guest of a calibration: a boot sector that works, reports, and waits to be told to go on.

It is 16-bit code for a PC with one serial port and any BIOS. A step is a fixed number of scans of a
working set; then it sends a byte and, if it is to wait, halts until it receives one. It uses no
timer, so that nothing else wakes it.
"""

from nova_twotier.calibration.loads import WORKING_SET

SECTOR = 512
_SIGNATURE = b"\x55\xaa"
#: Bytes of a segment, the most that 16-bit code reads without changing a segment register.
_SEGMENT = 0x10000
#: High bytes of the first segment of the working set, above this code, and of the one after it.
_FIRST = 0x10
_END = _FIRST + 0x10 * (WORKING_SET // _SEGMENT)

#: A BIOS loads the sector to address 0x7c00; the handler of interrupt 4, the serial port's, is at
#: 0x7c02.
_START = bytes.fromhex(
    "eb07"  # jmp start
    # handler: it only acknowledges the interrupt, which has ended the halt
    "50 b020 e620 58 cf"  # push ax; mov al, 0x20; out 0x20, al; pop ax; iret
    # start:
    "fa fc"  # cli; cld
    "31c0 8ed8 8ed0 bc007c"  # xor ax, ax; mov ds, ax; mov ss, ax; mov sp, 0x7c00
    "c7063000027c a33200"  # mov word [4 * 0x0c], 0x7c02; mov [4 * 0x0c + 2], ax
    "b0ef e621"  # mov al, 0xef; out 0x21, al: no interrupt but 4
    "bafb03 b003 ee"  # mov dx, 0x3fb; mov al, 3; out dx, al: 8 data bits
    "b2f9 b001 ee"  # mov dl, 0xf9; mov al, 1; out dx, al: interrupt when a byte arrives
    "b2fc b00b ee"  # mov dl, 0xfc; mov al, 0x0b; out dx, al: connect the interrupt
)
#: Memory that was never written has no place in a cache.
_FILL = bytes.fromhex(
    f"bb00{_FIRST:02x}"  # mov bx, first segment
    "8ec3 31ff b90080 f3ab"  # next: mov es, bx; xor di, di; mov cx, 0x8000; rep stosw
    f"80c710 80ff{_END:02x} 75ef"  # add bh, 0x10; cmp bh, end; jne next
)
#: Reads one word of every cache line; follows a `mov ecx, scans`.
_WORK = bytes.fromhex(
    f"bb00{_FIRST:02x}"  # scan: mov bx, first segment
    "8ec3 31f6"  # next: mov es, bx; xor si, si
    "26668b04 83c640 75f7"  # line: mov eax, es:[si]; add si, 64; jnz line
    f"80c710 80ff{_END:02x} 75eb"  # add bh, 0x10; cmp bh, end; jne next
    "6649 75e4"  # dec ecx; jnz scan
)
_REPORT = bytes.fromhex("baf803 ee")  # mov dx, 0x3f8; out dx, al
_WAIT = bytes.fromhex(
    "fa b2fd ec a801 7504"  # again: cli; mov dl, 0xfd; in al, dx; test al, 1; jnz received
    "fb f4 ebf4"  # sti; hlt; jmp again: no interrupt comes between sti and hlt
    "b2f8 ec"  # received: mov dl, 0xf8; in al, dx
)


def boot_sector(scans: int, waits: bool) -> bytes:
    """The disk of a guest.

    :param scans: of its working set in each step, below 2**32.
    :param waits: whether it waits for a byte after each step.
    """
    step = b"\x66\xb9" + scans.to_bytes(4, "little") + _WORK + _REPORT + (_WAIT if waits else b"")
    back = -(len(step) + 3)
    jump = b"\xe9" + back.to_bytes(2, "little", signed=True)
    return (_START + _FILL + step + jump).ljust(SECTOR - 2, b"\0") + _SIGNATURE
