#include "textflag.h"

// Eight copies of each number that the kernels need.
#define EIGHT(name, value) \
	DATA name<>+0(SB)/4, $value; \
	DATA name<>+4(SB)/4, $value; \
	DATA name<>+8(SB)/4, $value; \
	DATA name<>+12(SB)/4, $value; \
	DATA name<>+16(SB)/4, $value; \
	DATA name<>+20(SB)/4, $value; \
	DATA name<>+24(SB)/4, $value; \
	DATA name<>+28(SB)/4, $value; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

EIGHT(fields, 0x8fffe000)    // sign and magnitude of a half that was extended and shifted by 13
EIGHT(rebias, 0x77800000)    // 2^112
EIGHT(magnitude, 0x7fffffff)
EIGHT(toHalf, 0xc8001000)    // half a unit of a half, less 112 exponents
EIGHT(infinite, 0x7c00)
EIGHT(halfUnits, 0x4c000000) // 2^25, which makes halves of the least subnormal integers
EIGHT(normal, 0x38800000)    // 2^-14
EIGHT(sign, 0x8000)
EIGHT(one, 1)
EIGHT(words, 0x7fff7fff)
EIGHT(infinities, 0x7c007c00)

// DECODE turns eight halves into numbers.
#define DECODE(from, y) \
	VPMOVSXWD from, y   \
	VPSLLD    $13, y, y \
	VPAND     Y9, y, y  \
	VMULPS    Y8, y, y

#define DECODING \
	VMOVUPS rebias<>(SB), Y8 \
	VMOVUPS fields<>(SB), Y9

#define AWAY \
	VPXOR   Y7, Y7, Y7            \
	VMOVUPS magnitude<>(SB), Y10  \
	VMOVUPS toHalf<>(SB), Y11     \
	VMOVUPS infinite<>(SB), Y12   \
	VMOVUPS halfUnits<>(SB), Y13  \
	VMOVUPS normal<>(SB), Y14     \
	VMOVUPS sign<>(SB), Y15

// ROUND turns eight float32 into halves, half away, each in 32 bits. Y4 to Y6 are changed.
#define ROUND(y) \
	VPAND      Y10, y, Y4       \
	VPADDD     Y11, Y4, Y5      \
	VPSRLD     $13, Y5, Y5      \
	VPMINSD    Y12, Y5, Y5      \
	VMULPS     Y13, Y4, Y6      \
	VCVTTPS2DQ Y6, Y6           \
	VPADDD     one<>(SB), Y6, Y6 \
	VPSRLD     $1, Y6, Y6       \
	VPCMPGTD   Y4, Y14, Y4      \
	VBLENDVPS  Y4, Y6, Y5, Y5   \
	VPSRLD     $16, y, y        \
	VPAND      Y15, y, y        \
	VPCMPEQD   Y7, Y5, Y4       \
	VPANDN     y, Y4, y         \
	VPOR       Y5, y, y

#define PUTAWAY \
	ROUND(Y0)               \
	ROUND(Y1)               \
	VPACKUSDW Y1, Y0, Y0    \
	VPERMQ    $0xD8, Y0, Y0 \
	VMOVDQU   Y0, (DI)      \
	ADDQ      $32, DI       \
	DECQ      CX

#define EVEN \
	VPXOR   Y7, Y7, Y7            \
	VMOVUPS words<>(SB), Y10      \
	VMOVUPS infinities<>(SB), Y12

// PUTEVEN also makes NaN infinite and removes the sign of zeros.
#define PUTEVEN \
	VCVTPS2PH   $0, Y0, X0       \
	VCVTPS2PH   $0, Y1, X1       \
	VINSERTI128 $1, X1, Y0, Y0   \
	VPAND       Y10, Y0, Y1      \
	VPANDN      Y0, Y10, Y0      \
	VPCMPEQW    Y7, Y1, Y4       \
	VPANDN      Y0, Y4, Y0       \
	VPMINUW     Y12, Y1, Y1      \
	VPOR        Y1, Y0, Y0       \
	VMOVDQU     Y0, (DI)         \
	ADDQ        $32, DI          \
	DECQ        CX

// IEEE and NUMBERS read 16 halves of both operands, those of float16 and those of a chip.

#define IEEE \
	VCVTPH2PS (SI), Y0   \
	VCVTPH2PS 16(SI), Y1 \
	VCVTPH2PS (DX), Y2   \
	VCVTPH2PS 16(DX), Y3 \
	ADDQ      R8, SI     \
	ADDQ      R9, DX

#define NUMBERS \
	DECODE((SI), Y0)   \
	DECODE(16(SI), Y1) \
	DECODE((DX), Y2)   \
	DECODE(16(DX), Y3) \
	ADDQ R8, SI        \
	ADDQ R9, DX

#define PUTIEEE \
	VCVTPS2PH $0, Y0, (DI)   \
	VCVTPS2PH $0, Y1, 16(DI) \
	ADDQ      $32, DI        \
	DECQ      CX

// The operations set x to x op y. Y4 to Y6 may be changed, and y.

#define SUM(x, y)        VADDPS y, x, x
#define DIFFERENCE(x, y) VSUBPS y, x, x
#define PRODUCT(x, y)    VMULPS y, x, x
#define QUOTIENT(x, y)   VDIVPS y, x, x
#define GREATEST(x, y)   VMAXPS y, x, x
#define LEAST(x, y)      VMINPS y, x, x

// SHARE is 0 where x is.
#define SHARE(x, y) \
	VADDPS Y7, y, y      \
	VCMPPS $0, Y7, x, Y5 \
	VDIVPS y, x, x       \
	VPANDN x, Y5, x

// CHOOSE replaces x of MAXPS or MINPS: where x = y by both's bits (of zeros the sign decides), where one is NaN by
// their sum.
#define CHOOSE(PAIR, BITS, x, y) \
	PAIR      y, x, Y4       \
	BITS      y, x, Y5       \
	VCMPPS    $0, y, x, Y6   \
	VBLENDVPS Y6, Y5, Y4, Y4 \
	VCMPPS    $3, y, x, Y6   \
	VADDPS    y, x, Y5       \
	VBLENDVPS Y6, Y5, Y4, x

#define GREATER(x, y) CHOOSE(VMAXPS, VANDPS, x, y)
#define LESSER(x, y)  CHOOSE(VMINPS, VORPS, x, y)

#define LOOP(name, READ, OP, PUT) \
name:          \
	READ       \
	OP(Y0, Y2) \
	OP(Y1, Y3) \
	PUT        \
	JNE name   \
	VZEROUPPER \
	RET

// OPERATIONS is all that binaryVector does by one set of rules: AX is the operation, DI is dst, SI and DX are x and y,
// which advance by R8 and R9 bytes, CX counts the blocks.
#define OPERATIONS(READ, DIVIDE, MAXIMUM, MINIMUM, PUT) \
	MOVQ dst+8(FP), DI     \
	MOVQ x+16(FP), SI      \
	MOVQ y+24(FP), DX      \
	MOVQ xstep+32(FP), R8  \
	MOVQ ystep+40(FP), R9  \
	MOVQ blocks+48(FP), CX \
	SHLQ $5, R8            \
	SHLQ $5, R9            \
	CMPQ AX, $1            \
	JLT  add               \
	JEQ  sub               \
	CMPQ AX, $3            \
	JLT  mul               \
	JEQ  div               \
	CMPQ AX, $5            \
	JLT  max               \
	LOOP(min, READ, MINIMUM, PUT)    \
	LOOP(max, READ, MAXIMUM, PUT)    \
	LOOP(add, READ, SUM, PUT)        \
	LOOP(sub, READ, DIFFERENCE, PUT) \
	LOOP(mul, READ, PRODUCT, PUT)    \
	LOOP(div, READ, DIVIDE, PUT)

// func binaryVector(kind int, dst, x, y *fp16.Bits, xstep, ystep, blocks int)
TEXT ·binaryVector(SB), NOSPLIT, $0-56
	MOVQ kind+0(FP), AX
	CMPQ AX, $6
	JGE  chip
	OPERATIONS(IEEE, QUOTIENT, GREATER, LESSER, PUTIEEE)

chip:
	DECODING
	SUBQ $6, AX
	CMPQ AX, $6
	JGE  even
	JMP  away<>(SB)

even:
	SUBQ $6, AX
	JMP  even<>(SB)

// The parts of binaryVector for the rules of chips.

TEXT away<>(SB), NOSPLIT, $0-56
	AWAY
	OPERATIONS(NUMBERS, SHARE, GREATEST, LEAST, PUTAWAY)

TEXT even<>(SB), NOSPLIT, $0-56
	EVEN
	OPERATIONS(NUMBERS, SHARE, GREATEST, LEAST, PUTEVEN)

// func decodeVector(dst *float32, src *fp16.Bits, blocks int)
TEXT ·decodeVector(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	DECODING

loop:
	DECODE((SI), Y0)
	DECODE(16(SI), Y1)
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ    $32, SI
	ADDQ    $64, DI
	DECQ    CX
	JNE     loop
	VZEROUPPER
	RET

// TAKE reads 16 numbers.
#define TAKE \
	VMOVUPS (SI), Y0   \
	VMOVUPS 32(SI), Y1 \
	ADDQ    $64, SI

// func encodeVector(dst *fp16.Bits, src *float32, blocks int, away bool)
TEXT ·encodeVector(SB), NOSPLIT, $0-25
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	CMPB away+24(FP), $0
	JNE  away
	EVEN

toEven:
	TAKE
	PUTEVEN
	JNE toEven
	VZEROUPPER
	RET

away:
	AWAY

toAway:
	TAKE
	PUTAWAY
	JNE toAway
	VZEROUPPER
	RET
