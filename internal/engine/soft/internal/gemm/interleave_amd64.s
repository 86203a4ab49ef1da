#include "textflag.h"

// PAIR interleaves two pairs of registers within their halves: lo and hi become the elements 0, 1 and 2, 3 of each half.
#define PAIR(a, b, lo, hi) \
	VUNPCKLPS b, a, lo \
	VUNPCKHPS b, a, hi

// func interleaveTiles(dst *float32, width int, rows *[8]*float32, eights int)
TEXT ·interleaveTiles(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ width+8(FP), SI
	MOVQ rows+16(FP), AX
	MOVQ eights+24(FP), CX
	SHLQ $2, SI
	LEAQ (SI)(SI*2), R14
	MOVQ 0(AX), R8
	MOVQ 8(AX), R9
	MOVQ 16(AX), R10
	MOVQ 24(AX), R11
	MOVQ 32(AX), R12
	MOVQ 40(AX), R13
	MOVQ 48(AX), BX
	MOVQ 56(AX), DX
	XORQ AX, AX

next:
	VMOVUPS    (R8)(AX*1), Y0
	VMOVUPS    (R9)(AX*1), Y1
	VMOVUPS    (R10)(AX*1), Y2
	VMOVUPS    (R11)(AX*1), Y3
	VMOVUPS    (R12)(AX*1), Y4
	VMOVUPS    (R13)(AX*1), Y5
	VMOVUPS    (BX)(AX*1), Y6
	VMOVUPS    (DX)(AX*1), Y7
	PAIR(Y0, Y1, Y8, Y9)
	PAIR(Y2, Y3, Y10, Y11)
	PAIR(Y4, Y5, Y12, Y13)
	PAIR(Y6, Y7, Y14, Y15)
	VSHUFPS    $0x44, Y10, Y8, Y0
	VSHUFPS    $0xEE, Y10, Y8, Y1
	VSHUFPS    $0x44, Y11, Y9, Y2
	VSHUFPS    $0xEE, Y11, Y9, Y3
	VSHUFPS    $0x44, Y14, Y12, Y4
	VSHUFPS    $0xEE, Y14, Y12, Y5
	VSHUFPS    $0x44, Y15, Y13, Y6
	VSHUFPS    $0xEE, Y15, Y13, Y7
	VPERM2F128 $0x20, Y4, Y0, Y8
	VPERM2F128 $0x20, Y5, Y1, Y9
	VPERM2F128 $0x20, Y6, Y2, Y10
	VPERM2F128 $0x20, Y7, Y3, Y11
	VPERM2F128 $0x31, Y4, Y0, Y12
	VPERM2F128 $0x31, Y5, Y1, Y13
	VPERM2F128 $0x31, Y6, Y2, Y14
	VPERM2F128 $0x31, Y7, Y3, Y15
	LEAQ       (DI)(SI*4), R15
	VMOVUPS    Y8, (DI)
	VMOVUPS    Y9, (DI)(SI*1)
	VMOVUPS    Y10, (DI)(SI*2)
	VMOVUPS    Y11, (DI)(R14*1)
	VMOVUPS    Y12, (R15)
	VMOVUPS    Y13, (R15)(SI*1)
	VMOVUPS    Y14, (R15)(SI*2)
	VMOVUPS    Y15, (R15)(R14*1)
	LEAQ       (DI)(SI*8), DI
	ADDQ       $32, AX
	DECQ       CX
	JNE        next
	VZEROUPPER
	RET
