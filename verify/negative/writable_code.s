# Code in a section that can be written to.
    .section .writable_code, "awx", @progbits
    .globl hak_version_suffix
hak_version_suffix:
    ret
    .section .note.GNU-stack, "", @progbits
