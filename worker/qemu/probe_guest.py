"""Guest of the accelerator probe: a program that does the expensive parts of booting, and marks each.

It computes, takes page faults and switches page tables, writes system registers and writes to a port. A mark is bit 1
of the pvpanic device's port, which QEMU reports as the event `GUEST_CRASHLOADED` and which all our machines have, so
the probe runs with the command line of a real machine. After the last part it keeps marking, which shows that a clone
runs.

The parts are sized so that emulation takes a few hundred milliseconds and hardware virtualisation clearly less, also
where each exit from the guest costs 50 microseconds (KVM inside a virtual machine).
"""

import struct

from worker.qemu.overlay import small_image

MARK_EVENT = "GUEST_CRASHLOADED"
PARTS = ("firmware", "compute", "page faults", "system registers", "ports")
"""Parts that are done at each of the first marks."""

_SECTOR, _DISK_BYTES = 512, 2**20

# 16-bit mode, as a BIOS starts it: switches to 64 bits with the first 2 MiB mapped, then continues with _WORK.
_ENTRY = bytes.fromhex(
    "fafc"  # cli; cld
    "31c08ed88ec08ed0"  # xor ax, ax; mov ds, ax; mov es, ax; mov ss, ax
    "bf0010b90018f3ab"  # mov di, 0x1000; mov cx, 0x1800; rep stosw: three empty page tables
    "c70600100320"  # mov word [0x1000], 0x2003
    "c70600200330"  # mov word [0x2000], 0x3003
    "c70600308300"  # mov word [0x3000], 0x0083: the first 2 MiB, where they are
    "0f0116ee7d"  # lgdt [0x7DEE]
    "0f20e00c200f22e0"  # mov eax, cr4; or al, 0x20; mov cr4, eax: large addresses
    "66b8001000000f22d8"  # mov eax, 0x1000; mov cr3, eax
    "66b9800000c00f3280cc010f30"  # mov ecx, 0xC0000080; rdmsr; or ah, 1; wrmsr: 64 bits, once there is paging
    "0f20c0660d010000800f22c0"  # mov eax, cr0; or eax, 0x80000001; mov cr0, eax: paging and protection
    "66ea5b7c00000800"  # jmp 8:0x7C5B: _WORK
)
# Descriptors at 0x7DEE: the first, unused one has their size and address; the second is 64-bit code.
_DESCRIPTORS = bytes.fromhex("0f00ee7d00000000 00000000009a2000")
_DESCRIPTORS_AT = 0x1EE

# 64-bit mode, position-independent below 1 GiB; uses memory from 0x100000 to 0x120000, and 2 MiB from 0x200000.
_WORK = bytes.fromhex(
    "fafc"  # cli; cld
    "bc00001200"  # mov esp, 0x120000
    "bf00001000 31c0 b900200000 f3ab"  # mov edi, 0x100000; xor eax, eax; mov ecx, 0x2000; rep stosd: empty tables
    "c704250000100003101000"  # mov dword [0x100000], 0x101003: top table -> 0x101000
    "c704250050100003101000"  # mov dword [0x105000], 0x101003: a second top table, the same
    "c704250010100003201000"  # mov dword [0x101000], 0x102003: the first GiB -> 0x102000
    "c704250810100003301000"  # mov dword [0x101008], 0x103003: the second -> 0x103000
    "c704250030100003401000"  # mov dword [0x103000], 0x104003: its first 2 MiB, the window -> 0x104000
    "bf00201000 b883000000"  # mov edi, 0x102000; mov eax, 0x83
    "ab 83c704 0500002000"  # stosd; add edi, 4; add eax, 0x200000: the first GiB, where it is
    "81ff00301000 72ef"  # cmp edi, 0x103000; jb the line above
    "488d05fe000000"  # lea rax, [fault handler]
    "bfe0601000 668907 8cca 66895702"  # mov edi, 0x1060E0 (gate 14); mov [rdi], ax; mov edx, cs; mov [rdi+2], dx
    "66c74704008e 48c1e810 894706"  # mov word [rdi+4], 0x8E00; shr rax, 16; mov [rdi+6], eax
    "48c1e810 66894708"  # shr rax, 16; mov [rdi+8], ax
    "6800601000 4883ec02"  # push 0x106000; sub rsp, 2
    "66c70424ff0f 0f011c24"  # mov word [rsp], 0xFFF; lidt [rsp]
    "bb00001000 0f22db"  # mov ebx, 0x100000; mov cr3, rbx
    "e897000000"  # call mark
    # Compute: 12 million rounds of a call with floating point, a product and a memory access.
    "0f20e0 80cc02 0f22e0"  # mov rax, cr4; or ah, 2; mov cr4, rax: SSE
    "b9001bb700 bf00001100"  # mov ecx, 12000000; mov edi, 0x110000
    "e887000000 ffc9 75f7"  # call work; dec ecx; jnz call
    "e876000000"  # call mark
    # Page faults: 40 rounds over the window's 512 pages; after each the window is emptied and the top table changed.
    "41b828000000"  # mov r8d, 40
    "be00000040 ff06"  # mov esi, 0x40000000; inc dword [rsi]
    "81c600100000 81fe00002040 72f0"  # add esi, 0x1000; cmp esi, 0x40200000; jb inc
    "bf00401000 31c0 b900040000 f3ab"  # mov edi, 0x104000; xor eax, eax; mov ecx, 0x400; rep stosd
    "81f300500000 0f22db"  # xor ebx, 0x5000; mov cr3, rbx
    "41ffc8 75cf"  # dec r8d; jnz mov esi
    "e83a000000"  # call mark
    # System registers: 500 rounds of EFER and of CR4, whose bit for global pages empties the translation buffers.
    "41b8f4010000"  # mov r8d, 500
    "b9800000c0 0f32 0f30"  # mov ecx, 0xC0000080; rdmsr; wrmsr
    "0f20e0 3480 0f22e0"  # mov rax, cr4; xor al, 0x80; mov cr4, rax
    "41ffc8 75ea"  # dec r8d; jnz two lines up
    "e819000000"  # call mark
    # Ports: 1,000 writes to an unused one.
    "b9e8030000 e680 e2fc"  # mov ecx, 1000; out 0x80, al; loop out
    # Forever: a mark, and ten million rounds.
    "e80b000000 b980969800 ffc9 75fc ebf0"  # call mark; mov ecx, 10000000; dec ecx; jnz dec; jmp call
    # mark:
    "66ba0505 b002 ee c3"  # mov dx, 0x505; mov al, 2; out dx, al; ret
    # work:
    "f20f2ac1 f20f59c0 f20f58c8"  # cvtsi2sd xmm0, ecx; mulsd xmm0, xmm0; addsd xmm1, xmm0
    "69c1d15b0000 25f80f0000 48010c07 c3"  # imul eax, ecx, 0x5BD1; and eax, 0xFF8; add [rdi+rax], rcx; ret
    # Fault handler: maps the touched page to one of its own from 0x200000 on.
    "50 57 0f20d0 2500f01f00 89c7 c1ef09"  # push rax; push rdi; mov rax, cr2; and eax, 0x1FF000; edi = eax >> 9
    "0503002000 898700401000"  # add eax, 0x200003; mov [rdi+0x104000], eax
    "5f 58 4883c408 48cf"  # pop rdi; pop rax; add rsp, 8; iretq
)


def boot_disk(firmware: str) -> bytes:
    """A qcow2 image from which that firmware (`bios` or `uefi`) starts the guest; 1 MiB for the guest."""
    return small_image(_efi_volume() if firmware == "uefi" else _boot_sector(), _DISK_BYTES)


def _boot_sector() -> bytes:
    """Loaded at 0x7C00 by a BIOS."""
    code = (_ENTRY + _WORK).ljust(_DESCRIPTORS_AT, b"\x90") + _DESCRIPTORS
    return code.ljust(_SECTOR - 2, b"\0") + b"\x55\xaa"


def _efi_program() -> bytes:
    """A PE32+ executable of one section. Source: Microsoft's PE format, UEFI specification 2.10, section 2.1."""
    page, image_base, x86_64, efi_application = 0x1000, 0x400000, 0x8664, 10
    dos = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64)
    coff = b"PE\0\0" + struct.pack("<HHIIIHH", x86_64, 1, 0, 0, 0, 112, 0x22E)
    size = -(-len(_WORK) // _SECTOR) * _SECTOR
    optional = struct.pack("<HBBIIIII", 0x20B, 0, 0, size, 0, 0, page, page)
    optional += struct.pack("<QIIHHHHHHIIII", image_base, page, _SECTOR, 0, 0, 0, 0, 0, 0, 0, 2 * page, _SECTOR, 0)
    optional += struct.pack("<HHQQQQII", efi_application, 0, 2**16, 2**16, 0, 0, 0, 0)
    section = struct.pack("<8sIIIIIIHHI", b".text", len(_WORK), page, size, _SECTOR, 0, 0, 0, 0, 0x60000020)
    return (dos + coff + optional + section).ljust(_SECTOR, b"\0") + _WORK.ljust(size, b"\0")


def _efi_volume() -> bytes:
    """A FAT12 volume with `EFI/BOOT/BOOTX64.EFI`, UEFI's default path on an unknown disk."""
    program = _efi_program()
    sectors, clusters = _DISK_BYTES // _SECTOR, -(-len(program) // _SECTOR)
    tables, root_entries = 6, 16
    head = b"\xeb\x3c\x90DESKAREN" + struct.pack(
        "<HBHBHHBHHHII", 512, 1, 1, 1, root_entries, sectors, 0xF8, tables, 32, 2, 0, 0
    )
    head += struct.pack("<BBBI11s8s", 0x80, 0, 0x29, 0, b"DESKARENA  ", b"FAT12   ")
    # Clusters 2 and 3 are the two folders, the program follows; 0xFFF ends each chain.
    chain = [0xFF8, 0xFFF, 0xFFF, 0xFFF, *range(5, 4 + clusters), 0xFFF]
    table = b"".join(
        struct.pack("<I", low | high << 12)[:3] for low, high in zip(chain[::2], [*chain, 0][1::2], strict=False)
    )
    root = _entry(b"EFI        ", folder=True, cluster=2)
    efi = _entry(b".          ", folder=True, cluster=2) + _entry(b"..         ", folder=True, cluster=0)
    efi += _entry(b"BOOT       ", folder=True, cluster=3)
    boot = _entry(b".          ", folder=True, cluster=3) + _entry(b"..         ", folder=True, cluster=2)
    boot += _entry(b"BOOTX64 EFI", folder=False, cluster=4, size=len(program))
    boot_record = head.ljust(_SECTOR - 2, b"\0") + b"\x55\xaa"
    areas = ((boot_record, 1), (table, tables), (root, 1), (efi, 1), (boot, 1), (program, clusters))
    return b"".join(area.ljust(count * _SECTOR, b"\0") for area, count in areas)


def _entry(name: bytes, *, folder: bool, cluster: int, size: int = 0) -> bytes:
    """An entry of a FAT folder, without times."""
    return struct.pack("<11sB14xHI", name, 0x10 if folder else 0x20, cluster, size)
