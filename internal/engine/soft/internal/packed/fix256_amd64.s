#include "textflag.h"

// The fields of fixing256.
#define G_X 0
#define G_TO 8
#define G_SUMS 16
#define G_GROUPS 24
#define G_EACH 32

// Of the digits of four integers: the highest of the even and of the odd ones, then the middle and the lowest.
DATA fix256Digits<>+0x00(SB)/8, $0x0d0509010e060a02
DATA fix256Digits<>+0x08(SB)/8, $0x808080800c040800
DATA fix256Digits<>+0x10(SB)/8, $0x0d0509010e060a02
DATA fix256Digits<>+0x18(SB)/8, $0x808080800c040800
GLOBL fix256Digits<>(SB), RODATA|NOPTR, $32

// GREATER raises r to the magnitude of eight elements.
#define GREATER(at, r) \
	VPAND   at(R10), Y15, Y4 \
	VPMAXUD Y4, r, r

// GREATEST leaves X0 the bits of the greatest magnitude in the group at SI.
#define GREATEST \
	MOVQ         SI, R10     \
	MOVQ         R8, R11     \
	VPXOR        Y0, Y0, Y0  \
	VPXOR        Y1, Y1, Y1  \
most:                        \
	GREATER(0, Y0)           \
	GREATER(32, Y1)          \
	GREATER(64, Y0)          \
	GREATER(96, Y1)          \
	ADDQ         $128, R10   \
	DECQ         R11         \
	JNE          most        \
	VPMAXUD      Y1, Y0, Y0  \
	VEXTRACTI128 $1, Y0, X1  \
	VPMAXUD      X1, X0, X0  \
	VPSHUFD      $0x4E, X0, X1 \
	VPMAXUD      X1, X0, X0  \
	VPSHUFD      $0xB1, X0, X1 \
	VPMAXUD      X1, X0, X0

// EXPONENT sets DX to the exponent of the number in X0, or to that of 2^-24 if it is less.
#define EXPONENT \
	VMOVD   X0, DX    \
	SHRL    $23, DX   \
	MOVL    $103, R12 \
	CMPL    DX, R12   \
	CMOVLLT R12, DX

// BITS sets r to the number of the elements whose bits are set in a to d.
#define BITS(a, b, c, d, r) \
	VPACKSSDW b, a, a \
	VPACKSSDW d, c, c \
	VPACKSSWB c, a, a \
	VPMOVMSKB a, r    \
	POPCNTL   r, r

// INTEGERS sets r to the digits of eight elements, in the order of fix256Digits: the highest, worth -2^15, is that of
// the nearest multiple but never 128; the others, worth 2^8 and 1, are what is left. Y10 adds up the integers.
#define INTEGERS(at, r) \
	VMULPS    at(SI), Y9, r  \
	VCVTPS2DQ r, r           \
	VPADDD    r, Y10, Y10    \
	VPADDD    Y11, r, Y4     \
	VPSRAD    $15, Y4, Y4    \
	VPMAXSD   Y7, Y4, Y4     \
	VPSLLD    $15, Y4, Y5    \
	VPSUBD    Y5, r, r       \
	VPADDD    Y14, r, r      \
	VPXOR     Y14, r, r      \
	VPXOR     Y5, Y5, Y5     \
	VPSUBW    Y4, Y5, Y4     \
	VPSLLD    $16, Y4, Y4    \
	VPBLENDW  $0xAA, Y4, r, r \
	VPSHUFB   Y13, r, r

// STORE stores two rows of 16 digits of which r has eight of each, then the others.
#define STORE(r, x, at) \
	VPERMQ       $0xD8, r, r      \
	VMOVDQU      x, at(DI)        \
	VEXTRACTI128 $1, r, at+64(DI)

// func fixGroups256(f *fixing256) (most uint32)
TEXT ·fixGroups256(SB), NOSPLIT, $0-12
	MOVQ         f+0(FP), AX
	MOVQ         G_X(AX), SI
	MOVQ         G_TO(AX), DI
	MOVQ         G_SUMS(AX), BX
	MOVQ         G_GROUPS(AX), CX
	MOVQ         G_EACH(AX), R8
	XORL         R9, R9                    // pieces of 32 columns
	VPCMPEQD     Y15, Y15, Y15
	VPSRLD       $1, Y15, Y15
	MOVL         $0x80, DX
	VMOVD        DX, X14
	VPBROADCASTD X14, Y14
	VPSLLD       $7, Y14, Y11              // 2^14
	VMOVDQU      fix256Digits<>+0(SB), Y13
	VPXOR        Y12, Y12, Y12

group:
	GREATEST
	VPMAXUD      X0, X12, X12
	EXPONENT
	MOVL         $275, R12                 // less an exponent is that of 2^21 over its power
	SUBL         DX, R12
	SHLL         $23, R12
	VMOVD        R12, X9
	VPBROADCASTD X9, Y9
	SUBL         $21, DX
	SHLL         $23, DX
	VMOVD        DX, X8
	VPBROADCASTD X8, Y8
	VPXOR        Y10, Y10, Y10
	MOVQ         R8, R11

piece:
	VPCMPEQD Y7, Y7, Y7                    // -127
	VPSRLD   $25, Y7, Y7
	VPXOR    Y6, Y6, Y6
	VPSUBD   Y7, Y6, Y7
	INTEGERS(0, Y0)
	INTEGERS(32, Y1)
	INTEGERS(64, Y2)
	INTEGERS(96, Y3)
	VPERM2I128 $0x20, Y2, Y0, Y4
	VPERM2I128 $0x31, Y2, Y0, Y5
	VPERM2I128 $0x20, Y3, Y1, Y6
	VPERM2I128 $0x31, Y3, Y1, Y7
	VPUNPCKLWD Y5, Y4, Y0
	VPUNPCKHWD Y5, Y4, Y1
	VPUNPCKLWD Y7, Y6, Y2
	VPUNPCKHWD Y7, Y6, Y3
	VPUNPCKLDQ Y2, Y0, Y4
	VPUNPCKHDQ Y2, Y0, Y5
	VPUNPCKLDQ Y3, Y1, Y6
	STORE(Y4, X4, 0)
	STORE(Y5, X5, 128)
	STORE(Y6, X6, 256)
	VMOVUPS    X8, 384(DI)
	ADDQ       $128, SI
	ADDQ       $16, DI
	INCQ       R9
	TESTQ      $3, R9
	JNE        within
	ADDQ       $384, DI

within:
	DECQ         R11
	JNE          piece
	VEXTRACTI128 $1, Y10, X0
	VPADDD       X0, X10, X10
	VPSHUFD      $0x4E, X10, X0
	VPADDD       X0, X10, X10
	VPSHUFD      $0xB1, X10, X0
	VPADDD       X0, X10, X10
	VCVTDQ2PS    X10, X10
	VMULSS       X8, X10, X10
	VMOVSS       X10, (BX)
	ADDQ         $4, BX
	DECQ         CX
	JNE          group
	VMOVD        X12, DX
	MOVL         DX, most+8(FP)
	VZEROUPPER
	RET

// func steep256(f *fixing256) (is bool)
TEXT ·steep256(SB), NOSPLIT, $0-9
	MOVQ     f+0(FP), AX
	MOVQ     G_X(AX), SI
	MOVQ     G_GROUPS(AX), CX
	MOVQ     G_EACH(AX), R8
	MOVL     $1, R13
	VPCMPEQD Y15, Y15, Y15
	VPSRLD   $1, Y15, Y15
	VPXOR    Y14, Y14, Y14

group:
	GREATEST
	EXPONENT
	SUBL         $12, DX
	SHLL         $23, DX
	VMOVD        DX, X9
	VPBROADCASTD X9, Y9
	MOVQ         R8, R11

piece:
	VPAND    0(SI), Y15, Y0
	VPAND    32(SI), Y15, Y1
	VPAND    64(SI), Y15, Y2
	VPAND    96(SI), Y15, Y3
	VPCMPGTD Y0, Y9, Y4              // small, or 0
	VPCMPGTD Y1, Y9, Y5
	VPCMPGTD Y2, Y9, Y6
	VPCMPGTD Y3, Y9, Y7
	VPCMPEQD Y0, Y14, Y0
	VPCMPEQD Y1, Y14, Y1
	VPCMPEQD Y2, Y14, Y2
	VPCMPEQD Y3, Y14, Y3
	BITS(Y4, Y5, Y6, Y7, DX)
	BITS(Y0, Y1, Y2, Y3, R12)
	SUBL     R12, DX
	ADDL     DX, DX
	NEGL     R12
	ADDL     $32, R12
	CMPL     R12, R13
	CMOVLLT  R13, R12
	CMPL     DX, R12
	JGE      is
	ADDQ     $128, SI
	DECQ     R11
	JNE      piece
	DECQ     CX
	JNE      group
	MOVB     $0, is+8(FP)
	VZEROUPPER
	RET

is:
	MOVB $1, is+8(FP)
	VZEROUPPER
	RET
