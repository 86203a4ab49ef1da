#include "textflag.h"
#include "kernel_amd64.h"

// Dwords and bytes as in kernel3_amd64.s, of integers of 6 bits: 12 bytes for four lanes.
DATA sixes<>+0x00(SB)/8, $0x0000000100000000
DATA sixes<>+0x08(SB)/8, $0x0000000000000002
DATA sixes<>+0x10(SB)/8, $0x0000000400000003
DATA sixes<>+0x18(SB)/8, $0x0000000000000005
DATA sixes<>+0x20(SB)/8, $0x0000000700000006
DATA sixes<>+0x28(SB)/8, $0x0000000000000008
DATA sixes<>+0x30(SB)/8, $0x0000000a00000009
DATA sixes<>+0x38(SB)/8, $0x000000000000000b
DATA sixes<>+0x40(SB)/8, $0x8005040380020100
DATA sixes<>+0x48(SB)/8, $0x800b0a0980080706
DATA sixes<>+0x50(SB)/8, $0x8005040380020100
DATA sixes<>+0x58(SB)/8, $0x800b0a0980080706
DATA sixes<>+0x60(SB)/8, $0x8005040380020100
DATA sixes<>+0x68(SB)/8, $0x800b0a0980080706
DATA sixes<>+0x70(SB)/8, $0x8005040380020100
DATA sixes<>+0x78(SB)/8, $0x800b0a0980080706
GLOBL sixes<>(SB), RODATA|NOPTR, $128

#define SETUP6 \
	VMOVDQU32 sixes<>+0(SB), Z26  \
	VMOVDQU8  sixes<>+64(SB), Z27 \
	MOVL      $0xFFF, DX          \
	KMOVW     DX, K2

// NUMBER6 moves integer n of each lane of Z9 to number r; left is 26 - 6n.
#define NUMBER6(left, shift, r) \
	VPSLLD    $left, Z9, r \
	shift     $26, r, r    \
	VCVTDQ2PS r, r

#define NUMBERS6(shift) \
	PREFETCHT0  8192(R8)     \
	VMOVDQU32.Z (R8), K2, Z9 \
	VPERMD      Z9, Z26, Z9  \
	VPSHUFB     Z27, Z9, Z9  \
	NUMBER6(26, shift, Z4)   \
	NUMBER6(20, shift, Z5)   \
	NUMBER6(14, shift, Z6)   \
	NUMBER6(8, shift, Z7)

// EXACTS8 and ODDS8 go on by 64 bytes, and a chunk has 48.
#define BACK6 SUBQ $16, R8

// func dotsExact6(d *dots)
TEXT ·dotsExact6(SB), NOSPLIT, $0-8
	SETUP6
	START

row:
	ROW

block:
	BLOCK8

chunk:
	NUMBERS6(VPSRLD)
	EXACTS8
	BACK6
	DECQ CX
	JNE  chunk
	DECQ DX
	JNE  block
	STEPS
	WITHIN
	LOW
	UPPER
	STORE
	JNE  row
	VZEROUPPER
	RET

// func dotsOdd6(d *dots)
TEXT ·dotsOdd6(SB), NOSPLIT, $0-8
	SETUP6
	START

row:
	ROW

block:
	BLOCK8
	OFFSETS8

chunk:
	NUMBERS6(VPSRLD)
	ODDS8
	BACK6
	DECQ CX
	JNE  chunk
	DECQ DX
	JNE  block
	STEPS
	WITHIN
	LOW
	UPPER
	STORE
	JNE  row
	VZEROUPPER
	RET
