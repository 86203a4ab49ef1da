#include "textflag.h"

// What spreads integers of 6 bits, and then those of 3, into bytes: the bytes of each lane of 32 bits, how far its
// first integer is from the low end, how far the others go up, and the bits of each of the four.
DATA spread<>+0x00(SB)/8, $0x8005040380020100
DATA spread<>+0x08(SB)/8, $0x800b0a0980080706
DATA spread<>+0x10(SB)/8, $0
DATA spread<>+0x18(SB)/8, $0
DATA spread<>+0x20(SB)/8, $0x0000000200000002
DATA spread<>+0x28(SB)/8, $0x0000000200000002
DATA spread<>+0x30(SB)/8, $0x0000000400000004
DATA spread<>+0x38(SB)/8, $0x0000000400000004
DATA spread<>+0x40(SB)/8, $0x0000000600000006
DATA spread<>+0x48(SB)/8, $0x0000000600000006
DATA spread<>+0x50(SB)/8, $0x0000003f0000003f
DATA spread<>+0x58(SB)/8, $0x0000003f0000003f
DATA spread<>+0x60(SB)/8, $0x00003f0000003f00
DATA spread<>+0x68(SB)/8, $0x00003f0000003f00
DATA spread<>+0x70(SB)/8, $0x003f0000003f0000
DATA spread<>+0x78(SB)/8, $0x003f0000003f0000
DATA spread<>+0x80(SB)/8, $0x3f0000003f000000
DATA spread<>+0x88(SB)/8, $0x3f0000003f000000
DATA spread<>+0x90(SB)/8, $0x8080020180800100
DATA spread<>+0x98(SB)/8, $0x8080050480800403
DATA spread<>+0xa0(SB)/8, $0x0000000400000000
DATA spread<>+0xa8(SB)/8, $0x0000000400000000
DATA spread<>+0xb0(SB)/8, $0x0000000500000005
DATA spread<>+0xb8(SB)/8, $0x0000000500000005
DATA spread<>+0xc0(SB)/8, $0x0000000a0000000a
DATA spread<>+0xc8(SB)/8, $0x0000000a0000000a
DATA spread<>+0xd0(SB)/8, $0x0000000f0000000f
DATA spread<>+0xd8(SB)/8, $0x0000000f0000000f
DATA spread<>+0xe0(SB)/8, $0x0000000700000007
DATA spread<>+0xe8(SB)/8, $0x0000000700000007
DATA spread<>+0xf0(SB)/8, $0x0000070000000700
DATA spread<>+0xf8(SB)/8, $0x0000070000000700
DATA spread<>+0x100(SB)/8, $0x0007000000070000
DATA spread<>+0x108(SB)/8, $0x0007000000070000
DATA spread<>+0x110(SB)/8, $0x0700000007000000
DATA spread<>+0x118(SB)/8, $0x0700000007000000
GLOBL spread<>(SB), RODATA|NOPTR, $288

// UNPACK spreads what is in X0 by the table at BX, and stores it with the sign of the bits in X15.
#define UNPACK \
	VPSHUFB (BX), X0, X0      \
	VPSRLVD 16(BX), X0, X0    \
	VPSLLVD 32(BX), X0, X1    \
	VPSLLVD 48(BX), X0, X2    \
	VPSLLVD 64(BX), X0, X3    \
	VPAND   80(BX), X0, X0    \
	VPAND   96(BX), X1, X1    \
	VPAND   112(BX), X2, X2   \
	VPAND   128(BX), X3, X3   \
	VPOR    X1, X0, X0        \
	VPOR    X3, X2, X2        \
	VPOR    X2, X0, X0        \
	VPXOR   X15, X0, X0       \
	VPSUBB  X15, X0, X0       \
	VMOVDQU X0, (DI)          \
	ADDQ    $16, DI

// func unpack256(to, data *byte, sixteens int, six bool, sign byte)
TEXT ·unpack256(SB), NOSPLIT, $0-26
	MOVQ         to+0(FP), DI
	MOVQ         data+8(FP), SI
	MOVQ         sixteens+16(FP), CX
	MOVBLZX      sign+25(FP), AX
	VMOVD        AX, X15
	VPBROADCASTB X15, X15
	LEAQ         spread<>+0(SB), BX
	CMPB         six+24(FP), $0
	JNE          six
	ADDQ         $144, BX

three:
	VMOVD   (SI), X0
	VPINSRW $2, 4(SI), X0, X0
	UNPACK
	ADDQ    $6, SI
	DECQ    CX
	JNE     three
	RET

six:
	VMOVQ   (SI), X0
	VPINSRD $2, 8(SI), X0, X0
	UNPACK
	ADDQ    $12, SI
	DECQ    CX
	JNE     six
	RET
