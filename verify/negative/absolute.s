# An absolute address in the code: the loader would have to write to the code.
    .text
    .globl hak_version_suffix
hak_version_suffix:
    movabs $malloc, %rax
    ret
    .section .note.GNU-stack, "", @progbits
