# The name that the build script of hakmem-preload gives to hak_dlopen, for linkers that would keep
# the hidden visibility of the original.
    .text
    .globl dlopen
dlopen:
    jmp hak_dlopen
    .section .note.GNU-stack, "", @progbits
