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

#define BOTH \
	DECODE((SI), Y0)   \
	DECODE(16(SI), Y1) \
	DECODE((DX), Y2)   \
	DECODE(16(DX), Y3) \
	ADDQ R8, SI        \
	ADDQ R9, DX

// QUOTIENT sets x to x / y, and to 0 where x is. y and Y5 are changed.
#define QUOTIENT(x, y) \
	VADDPS Y7, y, y      \
	VCMPPS $0, Y7, x, Y5 \
	VDIVPS y, x, x       \
	VPANDN x, Y5, x

#define ENTER \
	MOVQ op+0(FP), AX     \
	MOVQ dst+8(FP), DI    \
	MOVQ x+16(FP), SI     \
	MOVQ y+24(FP), DX     \
	MOVQ xstep+32(FP), R8 \
	MOVQ ystep+40(FP), R9 \
	MOVQ blocks+48(FP), CX \
	SHLQ $5, R8           \
	SHLQ $5, R9           \
	DECODING

#define PICK \
	CMPQ AX, $1 \
	JLT  add    \
	JEQ  sub    \
	CMPQ AX, $3 \
	JLT  mul    \
	JEQ  div    \
	CMPQ AX, $5 \
	JLT  max

// func binaryAway(op int, dst, x, y *fp16.Bits, xstep, ystep, blocks int)
TEXT ·binaryAway(SB), NOSPLIT, $0-56
	ENTER
	AWAY
	PICK

min:
	BOTH
	VMINPS Y2, Y0, Y0
	VMINPS Y3, Y1, Y1
	PUTAWAY
	JNE min
	VZEROUPPER
	RET

max:
	BOTH
	VMAXPS Y2, Y0, Y0
	VMAXPS Y3, Y1, Y1
	PUTAWAY
	JNE max
	VZEROUPPER
	RET

add:
	BOTH
	VADDPS Y2, Y0, Y0
	VADDPS Y3, Y1, Y1
	PUTAWAY
	JNE add
	VZEROUPPER
	RET

sub:
	BOTH
	VSUBPS Y2, Y0, Y0
	VSUBPS Y3, Y1, Y1
	PUTAWAY
	JNE sub
	VZEROUPPER
	RET

mul:
	BOTH
	VMULPS Y2, Y0, Y0
	VMULPS Y3, Y1, Y1
	PUTAWAY
	JNE mul
	VZEROUPPER
	RET

div:
	BOTH
	QUOTIENT(Y0, Y2)
	QUOTIENT(Y1, Y3)
	PUTAWAY
	JNE div
	VZEROUPPER
	RET

// func binaryEven(op int, dst, x, y *fp16.Bits, xstep, ystep, blocks int)
TEXT ·binaryEven(SB), NOSPLIT, $0-56
	ENTER
	EVEN
	PICK

min:
	BOTH
	VMINPS Y2, Y0, Y0
	VMINPS Y3, Y1, Y1
	PUTEVEN
	JNE min
	VZEROUPPER
	RET

max:
	BOTH
	VMAXPS Y2, Y0, Y0
	VMAXPS Y3, Y1, Y1
	PUTEVEN
	JNE max
	VZEROUPPER
	RET

add:
	BOTH
	VADDPS Y2, Y0, Y0
	VADDPS Y3, Y1, Y1
	PUTEVEN
	JNE add
	VZEROUPPER
	RET

sub:
	BOTH
	VSUBPS Y2, Y0, Y0
	VSUBPS Y3, Y1, Y1
	PUTEVEN
	JNE sub
	VZEROUPPER
	RET

mul:
	BOTH
	VMULPS Y2, Y0, Y0
	VMULPS Y3, Y1, Y1
	PUTEVEN
	JNE mul
	VZEROUPPER
	RET

div:
	BOTH
	QUOTIENT(Y0, Y2)
	QUOTIENT(Y1, Y3)
	PUTEVEN
	JNE div
	VZEROUPPER
	RET

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

// func encodeAway(dst *fp16.Bits, src *float32, blocks int)
TEXT ·encodeAway(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	AWAY

loop:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	ADDQ    $64, SI
	PUTAWAY
	JNE     loop
	VZEROUPPER
	RET

// func encodeEven(dst *fp16.Bits, src *float32, blocks int)
TEXT ·encodeEven(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	EVEN

loop:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	ADDQ    $64, SI
	PUTEVEN
	JNE     loop
	VZEROUPPER
	RET
