#include "textflag.h"

// The fields of fixes.
#define SUMS 0
#define DATA_ 8
#define DIGITS 16
#define SCALE 24
#define PRODUCT 32
#define VECTOR 40
#define ROWS 48
#define UNITS 56
#define LAST 64
#define EACH 72
#define BLOCKS 80
#define FLIP 92

// The scales, of four in each half of a register, that belong to lanes 0 to 7 and 8 to 15.
DATA fixed256Low<>+0x00(SB)/8, $0x0000000000000000
DATA fixed256Low<>+0x08(SB)/8, $0x0000000000000000
DATA fixed256Low<>+0x10(SB)/8, $0x0000000100000001
DATA fixed256Low<>+0x18(SB)/8, $0x0000000100000001
GLOBL fixed256Low<>(SB), RODATA|NOPTR, $32

DATA fixed256High<>+0x00(SB)/8, $0x0000000200000002
DATA fixed256High<>+0x08(SB)/8, $0x0000000200000002
DATA fixed256High<>+0x10(SB)/8, $0x0000000300000003
DATA fixed256High<>+0x18(SB)/8, $0x0000000300000003
GLOBL fixed256High<>(SB), RODATA|NOPTR, $32

// Eight numbers all of whose bits are set, and eight that are 0: those from number n on choose the first 8 - n.
DATA fixed256Few<>+0x00(SB)/8, $0xFFFFFFFFFFFFFFFF
DATA fixed256Few<>+0x08(SB)/8, $0xFFFFFFFFFFFFFFFF
DATA fixed256Few<>+0x10(SB)/8, $0xFFFFFFFFFFFFFFFF
DATA fixed256Few<>+0x18(SB)/8, $0xFFFFFFFFFFFFFFFF
DATA fixed256Few<>+0x20(SB)/8, $0
DATA fixed256Few<>+0x28(SB)/8, $0
DATA fixed256Few<>+0x30(SB)/8, $0
DATA fixed256Few<>+0x38(SB)/8, $0
GLOBL fixed256Few<>(SB), RODATA|NOPTR, $64

// START reads the arguments. R8 is the data of a row, R10 what its scales lie beyond those of the first, DI its sum,
// R14 the bytes of the scales of a row, R13 has the lanes of the last unit. Y15 has the bits of an integer, Y14 those
// that are flipped; Y11, Y12 and Y13 have what the digits are worth, -2^15, 2^8 and 1, in 16 bits.
#define START \
	MOVQ         d+0(FP), AX     \
	MOVQ         SUMS(AX), DI    \
	MOVQ         DATA_(AX), R8   \
	MOVQ         BLOCKS(AX), R14 \
	SHLQ         $2, R14         \
	MOVQ         LAST(AX), R13   \
	MOVQ         ROWS(AX), R11   \
	LEAQ         fixed256Few<>+32(SB), R12 \
	XORL         R10, R10        \
	VPBROADCASTD FLIP(AX), Y14   \
	VPCMPEQW     Y13, Y13, Y13   \
	VPSRLW       $15, Y13, Y13   \
	VPSLLW       $8, Y13, Y12    \
	VPCMPEQB     Y15, Y15, Y15   \
	VPSRLW       $12, Y15, Y15   \
	VPSLLW       $8, Y15, Y11    \
	VPOR         Y11, Y15, Y15   \
	VPSLLW       $15, Y13, Y11

// OFFSETS begins the offsets of a row. R9 is its scales, SI their products with the offsets, DX the sums of the vector's
// elements and their units, CX counts the blocks.
#define OFFSETS \
	MOVQ   SCALE(AX), R9   \
	MOVQ   PRODUCT(AX), SI \
	ADDQ   R10, R9         \
	ADDQ   R10, SI         \
	MOVQ   VECTOR(AX), DX  \
	MOVQ   BLOCKS(AX), CX  \
	VXORPS Y0, Y0, Y0      \
	VXORPS Y1, Y1, Y1

// OFFSET subtracts from sum what the offsets of eight blocks take from a row. The scales become those of the vector's
// integers. It jumps to few if fewer blocks are left.
#define OFFSET(at, sum, few) \
	CMPQ    CX, $8                \
	JLT     few                   \
	VMOVUPS at(SI), Y2            \
	VMOVUPS at(R9), Y3            \
	VMULPS  at(DX), Y2, Y2        \
	VMULPS  at+64(DX), Y3, Y3     \
	VSUBPS  Y2, sum, sum          \
	VMOVUPS Y3, at(R9)            \
	SUBQ    $8, CX

// FEW is OFFSET of the last blocks, of which CX has fewer than eight.
#define FEW(at, sum) \
	NEGQ       CX                \
	JEQ        units             \
	VMOVUPS    (R12)(CX*4), Y4   \
	VMASKMOVPS at(SI), Y4, Y2    \
	VMASKMOVPS at(R9), Y4, Y3    \
	VMULPS     at(DX), Y2, Y2    \
	VMULPS     at+64(DX), Y3, Y3 \
	VSUBPS     Y2, sum, sum      \
	VMASKMOVPS Y3, Y4, at(R9)

// ROW begins the units of a row. SI is the vector, DX counts its units, CX those of a block, R9 is the scales.
#define ROW \
	MOVQ DIGITS(AX), SI \
	MOVQ UNITS(AX), DX  \
	MOVQ EACH(AX), CX   \
	MOVQ SCALE(AX), R9  \
	ADDQ R10, R9

// PLAIN and FLIPPED read 32 bytes of integers without and with a sign.
#define PLAIN(at) \
	VMOVDQU at(R8), Y4
#define FLIPPED(at) \
	VPXOR at(R8), Y14, Y4

// HALF adds to sum half of a unit times the scales in s: the 32 bytes of data in Y4, and eight lanes of the vector.
#define HALF(at, s, sum) \
	VPSRLD      $4, Y4, Y5          \
	VPAND       Y15, Y4, Y4         \
	VPAND       Y15, Y5, Y5         \
	VPMADDUBSW  at+0(SI), Y4, Y6    \
	VPMADDUBSW  at+64(SI), Y5, Y7   \
	VPMADDUBSW  at+128(SI), Y4, Y8  \
	VPMADDUBSW  at+192(SI), Y5, Y9  \
	VPMADDUBSW  at+256(SI), Y4, Y4  \
	VPMADDUBSW  at+320(SI), Y5, Y5  \
	VPADDW      Y7, Y6, Y6          \
	VPADDW      Y9, Y8, Y8          \
	VPADDW      Y5, Y4, Y4          \
	VPMADDWD    Y11, Y6, Y6         \
	VPMADDWD    Y12, Y8, Y8         \
	VPMADDWD    Y13, Y4, Y4         \
	VPADDD      Y8, Y6, Y6          \
	VPADDD      Y4, Y6, Y6          \
	VCVTDQ2PS   Y6, Y6              \
	VFMADD231PS s, Y6, sum

// LOW32, LOW64 and LOWS give lanes 0 to 7 the scales of their blocks, HIGH32, HIGH64 and HIGHS lanes 8 to 15; the last
// where a unit has one block, whose scale is not yet that of the unit.
#define LOW32(s) \
	VBROADCASTF128 (R9), s                    \
	VPERMILPS      fixed256Low<>+0(SB), s, s
#define HIGH32(s) \
	VBROADCASTF128 (R9), s                    \
	VPERMILPS      fixed256High<>+0(SB), s, s
#define LOW64(s) \
	VBROADCASTSS (R9), s
#define HIGH64(s) \
	VBROADCASTSS 4(R9), s
#define LOWS(s) \
	VBROADCASTSS (R9), s       \
	VMULPS       384(SI), s, s
#define HIGHS(s) \
	VBROADCASTSS (R9), s       \
	VMULPS       416(SI), s, s

// NEXT32, NEXT64 and NEXTS go on to the scales of the next unit.
#define NEXT32 \
	ADDQ $16, R9
#define NEXT64 \
	ADDQ $8, R9
#define NEXTS \
	LEAQ    4(R9), BX     \
	DECQ    CX            \
	CMOVQEQ BX, R9        \
	CMOVQEQ EACH(AX), CX

// ROWS256 is a kernel of any number of rows.
#define ROWS256(read, low, high, next) \
	START                          \
row:                               \
	OFFSETS                        \
blocks:                            \
	OFFSET(0, Y0, few)             \
	OFFSET(32, Y1, fewer)          \
	ADDQ       $128, DX            \
	ADDQ       $64, SI             \
	ADDQ       $64, R9             \
	JMP        blocks              \
few:                               \
	FEW(0, Y0)                     \
	JMP        units               \
fewer:                             \
	FEW(32, Y1)                    \
units:                             \
	ROW                            \
unit:                              \
	PREFETCHT0 1536(R8)            \
	read(0)                        \
	low(Y2)                        \
	HALF(0, Y2, Y0)                \
	CMPQ       DX, $1              \
	JEQ        last                \
both:                              \
	read(32)                       \
	high(Y3)                       \
	HALF(32, Y3, Y1)               \
	next                           \
	ADDQ       $448, SI            \
	ADDQ       $64, R8             \
	DECQ       DX                  \
	JNE        unit                \
	JMP        total               \
last:                              \
	CMPQ       R13, $0xFF          \
	JNE        both                \
	ADDQ       $32, R8             \
total:                             \
	VADDPS       Y1, Y0, Y0        \
	VEXTRACTF128 $1, Y0, X1        \
	VADDPS       X1, X0, X0        \
	VPERMILPS    $0x4E, X0, X1     \
	VADDPS       X1, X0, X0        \
	VPERMILPS    $0xB1, X0, X1     \
	VADDPS       X1, X0, X0        \
	VMOVSS       X0, (DI)          \
	ADDQ         $4, DI            \
	ADDQ         R14, R10          \
	DECQ         R11               \
	JNE          row               \
	VZEROUPPER                     \
	RET

// func fixed256Plain32(d *fixes)
TEXT ·fixed256Plain32(SB), NOSPLIT, $0-8
	ROWS256(PLAIN, LOW32, HIGH32, NEXT32)

// func fixed256Plain64(d *fixes)
TEXT ·fixed256Plain64(SB), NOSPLIT, $0-8
	ROWS256(PLAIN, LOW64, HIGH64, NEXT64)

// func fixed256PlainAll(d *fixes)
TEXT ·fixed256PlainAll(SB), NOSPLIT, $0-8
	ROWS256(PLAIN, LOWS, HIGHS, NEXTS)

// func fixed256Flipped32(d *fixes)
TEXT ·fixed256Flipped32(SB), NOSPLIT, $0-8
	ROWS256(FLIPPED, LOW32, HIGH32, NEXT32)

// func fixed256Flipped64(d *fixes)
TEXT ·fixed256Flipped64(SB), NOSPLIT, $0-8
	ROWS256(FLIPPED, LOW64, HIGH64, NEXT64)

// func fixed256FlippedAll(d *fixes)
TEXT ·fixed256FlippedAll(SB), NOSPLIT, $0-8
	ROWS256(FLIPPED, LOWS, HIGHS, NEXTS)

// The fields of scales.
#define S_SCALE 0
#define S_HALF 8
#define S_SINGLE 16
#define S_BYTES 24
#define S_SIGNED 32
#define S_EIGHTS 40
#define S_TO 48
#define S_PRODUCT 56
#define S_MORE 64
#define S_SURE 68

// func scales256(s *scales) (bounded bool)
TEXT ·scales256(SB), NOSPLIT, $0-9
	MOVQ         s+0(FP), AX
	MOVQ         S_SCALE(AX), SI
	MOVQ         S_HALF(AX), R8
	MOVQ         S_SINGLE(AX), R9
	MOVQ         S_BYTES(AX), R10
	MOVQ         S_SIGNED(AX), R11
	MOVQ         S_EIGHTS(AX), CX
	MOVQ         S_TO(AX), DI
	MOVQ         S_PRODUCT(AX), DX
	VBROADCASTSS S_MORE(AX), Y15
	VPCMPEQD     Y14, Y14, Y14        // the bits of a magnitude
	VPSRLD       $1, Y14, Y14
	MOVL         $0x477FE000, BX      // 65504
	VMOVD        BX, X13
	VPBROADCASTD X13, Y13
	MOVL         $0x41800000, BX      // 16
	VMOVD        BX, X12
	VPBROADCASTD X12, Y12
	VPCMPEQD     Y11, Y11, Y11        // the scales that are bounded
	MOVL         S_MORE(AX), R12
	MOVL         S_SURE(AX), R13

next:
	VCVTPH2PS (SI), Y0
	ADDQ      $16, SI
	VPXOR     Y1, Y1, Y1
	TESTQ     R8, R8
	JNE       half
	TESTQ     R9, R9
	JNE       single
	TESTQ     R10, R10
	JEQ       known
	TESTQ     R11, R11
	JNE       signed
	VPMOVZXBD (R10), Y1
	JMP       integer

signed:
	VPMOVSXBD (R10), Y1

integer:
	VCVTDQ2PS Y1, Y1
	ADDQ      $8, R10
	JMP       known

half:
	VCVTPH2PS (R8), Y1
	ADDQ      $16, R8
	JMP       known

single:
	VMOVUPS (R9), Y1
	ADDQ    $32, R9

known:
	VMULPS Y0, Y1, Y1
	TESTL  R12, R12
	JEQ    store
	VMULPS Y15, Y0, Y2
	VADDPS Y2, Y1, Y1

store:
	VMOVUPS   Y0, (DI)
	VMOVUPS   Y1, (DX)
	TESTL     R13, R13
	JNE       sure
	VANDPS    Y14, Y0, Y0
	VANDPS    Y14, Y1, Y1
	VMULPS    Y12, Y0, Y0
	VADDPS    Y1, Y0, Y0
	VCMPPS    $0x11, Y13, Y0, Y0      // below 65504: rounding hides nothing there
	VANDPS    Y0, Y11, Y11

sure:
	ADDQ      $32, DI
	ADDQ      $32, DX
	DECQ      CX
	JNE       next
	VMOVMSKPS Y11, BX
	CMPL      BX, $0xFF
	SETEQ     bounded+8(FP)
	VZEROUPPER
	RET
