#include "textflag.h"

// The fields of expanding256.
#define TO 0
#define DATA_ 8
#define SCALE 16
#define NUMBERS 24
#define BLOCKS 32
#define EACH 40

// The bytes from the scales of blocks to the other three rows of parts256.
#define HIGH_ 64
#define REST_ 128
#define LAST_ 192

// The shifts that bring integers of 4 and of 2 bits into the low bits of their lanes.
DATA shifts256<>+0x00(SB)/8, $0x0000000400000000
DATA shifts256<>+0x08(SB)/8, $0x0000000c00000008
DATA shifts256<>+0x10(SB)/8, $0x0000001400000010
DATA shifts256<>+0x18(SB)/8, $0x0000001c00000018
DATA shifts256<>+0x20(SB)/8, $0x0000000200000000
DATA shifts256<>+0x28(SB)/8, $0x0000000600000004
DATA shifts256<>+0x30(SB)/8, $0x0000000a00000008
DATA shifts256<>+0x38(SB)/8, $0x0000000e0000000c
GLOBL shifts256<>(SB), RODATA|NOPTR, $64

// START reads the arguments. R8 is the data, R9 the scales, DI the elements, DX counts the blocks. Y15 has ones, Y14
// zeros.
#define START \
	MOVQ     e+0(FP), AX     \
	MOVQ     TO(AX), DI      \
	MOVQ     DATA_(AX), R8   \
	MOVQ     SCALE(AX), R9   \
	MOVQ     BLOCKS(AX), DX  \
	VPCMPEQD Y15, Y15, Y15   \
	VPSRLD   $31, Y15, Y15   \
	VXORPS   Y14, Y14, Y14

// BLOCK reads what a block has: Y13 its scale, Y12, Y11 and Y10 the parts of its product with the offset. CX counts
// the steps of the block.
#define BLOCK \
	VBROADCASTSS (R9), Y13      \
	VBROADCASTSS HIGH_(R9), Y12 \
	VBROADCASTSS REST_(R9), Y11 \
	VBROADCASTSS LAST_(R9), Y10 \
	ADDQ         $4, R9         \
	MOVQ         EACH(AX), CX

// ELEMENTS makes elements of the numbers in r. The first difference is exact. Fast2Sum finds what rounding takes of
// the second one, so that a difference that is not exact becomes odd, and rounding it to a half rounds once.
#define ELEMENTS(r, half, z, err) \
	VFMSUB213PS Y12, Y13, r   \
	VSUBPS      Y11, r, z     \
	VSUBPS      z, r, err     \
	VSUBPS      Y11, err, err \
	VSUBPS      Y10, err, err \
	VCMPPS      $0x04, Y14, err, r \
	VPXOR       z, err, err   \
	VPANDN      Y15, z, half  \
	VPAND       r, half, half \
	VPSIGND     err, half, half \
	VPADDD      half, z, r

// ROUND rounds r to halves; half is the low part of room.
#define ROUND(r, half) \
	VCVTPS2PH $0, r, half \
	VCVTPH2PS half, r

// func expand256By4(e *expanding256)
TEXT ·expand256By4(SB), NOSPLIT, $0-8
	START
	MOVQ    NUMBERS(AX), BX
	VMOVDQU shifts256<>+0(SB), Y9

block:
	BLOCK
	VMOVUPS (BX), Y0
	VMOVUPS 32(BX), Y1
	ELEMENTS(Y0, Y2, Y3, Y4)
	ELEMENTS(Y1, Y5, Y6, Y7)
	ROUND(Y0, X2)
	ROUND(Y1, X5)

next:
	VPBROADCASTD (R8), Y2
	VPBROADCASTD 4(R8), Y3
	VPSRLVD      Y9, Y2, Y2
	VPSRLVD      Y9, Y3, Y3
	VPERMPS      Y0, Y2, Y4
	VPERMPS      Y1, Y2, Y5
	VPERMPS      Y0, Y3, Y6
	VPERMPS      Y1, Y3, Y7
	VPSLLD       $28, Y2, Y2
	VPSLLD       $28, Y3, Y3
	VBLENDVPS    Y2, Y5, Y4, Y4
	VBLENDVPS    Y3, Y7, Y6, Y6
	VMOVUPS      Y4, (DI)
	VMOVUPS      Y6, 32(DI)
	ADDQ         $8, R8
	ADDQ         $64, DI
	DECQ         CX
	JNE          next
	DECQ         DX
	JNE          block
	VZEROUPPER
	RET

// func expand256By2(e *expanding256)
TEXT ·expand256By2(SB), NOSPLIT, $0-8
	START
	MOVQ    NUMBERS(AX), BX
	VMOVDQU shifts256<>+32(SB), Y9

block:
	BLOCK
	VMOVUPS (BX), Y0
	ELEMENTS(Y0, Y2, Y3, Y4)
	ROUND(Y0, X2)

next:
	VPBROADCASTD (R8), Y2
	VPSRLVD      Y9, Y2, Y3
	VPSRLD       $16, Y2, Y2
	VPSRLVD      Y9, Y2, Y2
	VPERMPS      Y0, Y3, Y4
	VPERMPS      Y0, Y2, Y5
	VMOVUPS      Y4, (DI)
	VMOVUPS      Y5, 32(DI)
	ADDQ         $4, R8
	ADDQ         $64, DI
	DECQ         CX
	JNE          next
	DECQ         DX
	JNE          block
	VZEROUPPER
	RET

// SIXTEEN makes elements of 16 bytes.
#define SIXTEEN(load) \
	load      (R8), Y0        \
	load      8(R8), Y1       \
	VCVTDQ2PS Y0, Y0          \
	VCVTDQ2PS Y1, Y1          \
	ELEMENTS(Y0, Y2, Y3, Y4)  \
	ELEMENTS(Y1, Y5, Y6, Y7)  \
	ROUND(Y0, X2)             \
	ROUND(Y1, X5)             \
	VMOVUPS   Y0, (DI)        \
	VMOVUPS   Y1, 32(DI)      \
	ADDQ      $16, R8         \
	ADDQ      $64, DI         \
	DECQ      CX

// func expand256By8(e *expanding256, signed bool)
TEXT ·expand256By8(SB), NOSPLIT, $0-9
	START
	CMPB signed+8(FP), $0
	JNE  block

blockU:
	BLOCK

nextU:
	SIXTEEN(VPMOVZXBD)
	JNE  nextU
	DECQ DX
	JNE  blockU
	VZEROUPPER
	RET

block:
	BLOCK

next:
	SIXTEEN(VPMOVSXBD)
	JNE  next
	DECQ DX
	JNE  block
	VZEROUPPER
	RET

// func split256(p *parts256, offset *[16]float32) (wrong bool)
TEXT ·split256(SB), NOSPLIT, $0-17
	MOVQ         p+0(FP), DI
	MOVQ         offset+8(FP), SI
	MOVL         $0x7FFFFFFF, AX          // the bits of a magnitude
	VMOVD        AX, X15
	VPBROADCASTD X15, Y15
	MOVL         $0x7F800000, AX          // those of an exponent
	VMOVD        AX, X14
	VPBROADCASTD X14, Y14
	MOVL         $0x447FC000, AX          // 1023, as most
	VMOVD        AX, X13
	VPBROADCASTD X13, Y13
	MOVL         $0x45C00000, AX          // 1.5 * 2^12, as magic
	VMOVD        AX, X12
	VPBROADCASTD X12, Y12
	MOVL         $0x477FE000, AX          // 65504
	VMOVD        AX, X11
	VPBROADCASTD X11, Y11
	MOVL         $0x12800000, AX          // 2^-90
	VMOVD        AX, X10
	VPBROADCASTD X10, Y10
	VXORPS       Y9, Y9, Y9
	VXORPS       Y8, Y8, Y8               // wrong
	MOVQ         $2, CX

next:
	VMOVUPS     (DI), Y0
	VMOVUPS     (SI), Y1
	VANDPS      Y15, Y0, Y2
	VANDPS      Y15, Y1, Y3
	VCMPPS      $0x16, Y13, Y3, Y4        // the offset is above most
	VORPS       Y4, Y8, Y8
	VCMPPS      $0x11, Y10, Y3, Y4        // it is below 2^-90, and not 0
	VCMPPS      $0x04, Y9, Y3, Y5
	VANDPS      Y5, Y4, Y4
	VORPS       Y4, Y8, Y8
	VADDPS      Y13, Y3, Y3               // most is more than an integer
	VMULPS      Y3, Y2, Y2
	VCMPPS      $0x16, Y11, Y2, Y2        // an element may be above 65504
	VORPS       Y2, Y8, Y8
	VMULPS      Y0, Y1, Y4
	VFMSUB213PS Y4, Y0, Y1                // what rounding took of the product
	VANDPS      Y14, Y0, Y6
	VMULPS      Y12, Y6, Y6
	VADDPS      Y6, Y4, Y7
	VSUBPS      Y6, Y7, Y7
	VMOVUPS     Y7, HIGH_(DI)
	VSUBPS      Y7, Y4, Y4                // exact
	VADDPS      Y1, Y4, Y2
	VMOVUPS     Y2, REST_(DI)
	VSUBPS      Y4, Y2, Y3                // what rounding took of the rest, by 2Sum
	VSUBPS      Y3, Y2, Y5
	VSUBPS      Y5, Y4, Y5
	VSUBPS      Y3, Y1, Y1
	VADDPS      Y5, Y1, Y1
	VMOVUPS     Y1, LAST_(DI)
	ADDQ        $32, DI
	ADDQ        $32, SI
	DECQ        CX
	JNE         next
	VMOVMSKPS   Y8, AX
	TESTL       AX, AX
	SETNE       wrong+16(FP)
	VZEROUPPER
	RET
