#include "funcdata.h"
#include "textflag.h"
#include "doubles_amd64.h"

// margin is the error of a result in float32, in parts of the product and of the result: 3.125*2^-24 and 2.125*2^-24.
// The distance, the scale and their product have rounded, then the result and an end of the margin.
DATA margin<>+0(SB)/4, $0x34480000
DATA margin<>+4(SB)/4, $0x34080000
GLOBL margin<>(SB), RODATA|NOPTR, $8

// bounds are what a scaled element without beta is compared with: twice the bits of 2^-14, the least normal half; -4091
// and 10 in the high 13 bits, to tell what is within 5 of 4096 in the low 13 bits, where halves meet.
DATA bounds<>+0(SB)/4, $0x71000000
DATA bounds<>+4(SB)/4, $0x80280000
DATA bounds<>+8(SB)/4, $0x00500000
GLOBL bounds<>(SB), RODATA|NOPTR, $12

// SCALE loads what s has: mean and scale as float64, mean as float32, what is left of it times scale, scale, the error
// of a result from the mean's. Z25 has 0x7fffffff in each element.
#define SCALE \
	VBROADCASTSD (AX), Z17            \
	VBROADCASTSD 8(AX), Z18           \
	VBROADCASTSS 16(AX), Z19          \
	VBROADCASTSS 20(AX), Z20          \
	VBROADCASTSS 24(AX), Z21          \
	VBROADCASTSS 28(AX), Z22          \
	ONES                              \
	VPTERNLOGD   $255, Z25, Z25, Z25  \
	VPSRLD       $1, Z25, Z25

// EXACT computes a block in float64, with gamma in Y6 and Y7, and beta in Y8 and Y9.
#define EXACT \
	DOUBLES                   \
	VSUBPD      Z17, Z0, Z0   \
	VSUBPD      Z17, Z1, Z1   \
	VMULPD      Z18, Z0, Z0   \
	VMULPD      Z18, Z1, Z1   \
	VCVTPS2PD   Y6, Z6        \
	VCVTPS2PD   Y7, Z7        \
	VCVTPS2PD   Y8, Z8        \
	VCVTPS2PD   Y9, Z9        \
	VFMADD213PD Z8, Z6, Z0    \
	VFMADD213PD Z9, Z7, Z1    \
	ROUND

// Blocks that float32 cannot decide are computed later, so that no jump depends on the data: room has 32 of them, each
// with its elements, which dst may have replaced, and its address in x. R11 is 8 for each.
#define ROOM   1024
#define FULL   256

// KEEP puts a block of x into Y10 and room, which has it for later where LATER finds the flag NE. BX must be 0.
#define KEEP \
	VMOVDQU (SI), Y10           \
	VMOVDQU Y10, (SP)(R11*4)    \
	MOVQ    SI, ROOM(SP)(R11*1) \
	XORL    BX, BX

#define LATER \
	SETNE BX               \
	LEAQ  (R11)(BX*8), R11 \
	ADDQ  $32, SI

// TAKE takes a block from room: SI is where its elements are, DX its address in x, DI in dst.
#define TAKE \
	SUBQ $8, R11                \
	MOVQ ROOM(SP)(R11*1), DX    \
	LEAQ (SP)(R11*4), SI        \
	LEAQ (DX)(R13*1), DI

// func normalize512(dst, x, gamma, beta *fp16.Bits, blocks, ahead int, s *Scaled)
//
// Where both ends of the margin of error of float32 round to one half, that is the result. The margin is a part of the
// product, one of the result, and what the mean's error makes of the greatest gamma. ahead bytes after x is what is
// read next.
TEXT ·normalize512(SB), 0, $1280-56
	NO_LOCAL_POINTERS
	MOVQ dst+0(FP), R13
	MOVQ x+8(FP), SI
	MOVQ gamma+16(FP), R8
	MOVQ beta+24(FP), R9
	MOVQ blocks+32(FP), CX
	MOVQ ahead+40(FP), R10
	MOVQ s+48(FP), AX
	SCALE
	VBROADCASTSS margin<>+0(SB), Z24
	VBROADCASTSS margin<>+4(SB), Z26
	SHLQ         $5, CX
	ADDQ         SI, CX
	SUBQ         SI, R13 // from x
	SUBQ         SI, R8
	SUBQ         SI, R9
	XORL         R11, R11

normalize:
	KEEP
	PREFETCHT0  (SI)(R10*1)
	VCVTPH2PS   Y10, Z0
	VCVTPH2PS   (SI)(R8*1), Z1
	VCVTPH2PS   (SI)(R9*1), Z2
	VSUBPS      Z19, Z0, Z0
	VFMSUB213PS Z20, Z21, Z0
	VMULPS      Z1, Z0, Z3
	VFMADD231PS Z1, Z0, Z2        // the result
	VPANDD      Z25, Z3, Z3
	VPANDD      Z25, Z2, Z6
	VFMADD213PS Z22, Z24, Z3
	VFMADD231PS Z26, Z6, Z3       // the error
	VSUBPS      Z3, Z2, Z4
	VADDPS      Z3, Z2, Z5
	VCVTPS2PH   $0, Z4, Y4
	VCVTPS2PH   $0, Z5, Y5
	VMOVDQU     Y4, (SI)(R13*1)
	VPXOR       Y4, Y5, Y5
	VPTEST      Y5, Y5
	LATER
	CMPQ        SI, CX
	JEQ         rest
	CMPQ        R11, $FULL
	JNE         normalize

rest:
	TESTQ R11, R11
	JEQ   done
	MOVQ  SI, R12

exact:
	TAKE
	VCVTPH2PS (DX)(R9*1), Y8
	VCVTPH2PS 16(DX)(R9*1), Y9
	VCVTPH2PS (DX)(R8*1), Y6
	VCVTPH2PS 16(DX)(R8*1), Y7
	EXACT
	TESTQ     R11, R11
	JNE       exact
	MOVQ      R12, SI
	CMPQ      SI, CX
	JNE       normalize

done:
	VZEROUPPER
	RET

// NEAR sets K2 where the result is less than a normal half, or has fewer bits; K3 where it is near to where two halves
// meet. Z3 and Z4 are changed.
#define NEAR \
	VPADDD  Z2, Z2, Z3       \
	VPSLLD  $19, Z2, Z4      \
	VPADDD  Z24, Z4, Z4      \
	VPCMPUD $1, Z23, Z3, K2  \
	VPCMPUD $2, Z26, Z4, K3

// func stretch512(dst, x, gamma *fp16.Bits, blocks int, s *Scaled)
//
// Without beta the relative error is at most 5*2^-24: the result is that of float32 unless it is so near to where two
// halves meet, or less than a normal half, or a distance has fewer bits. gamma may be 0.
TEXT ·stretch512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ gamma+16(FP), R8
	MOVQ blocks+24(FP), CX
	MOVQ s+32(FP), AX
	SCALE
	VBROADCASTSS 32(AX), Z22
	VBROADCASTSS bounds<>+0(SB), Z23
	VBROADCASTSS bounds<>+4(SB), Z24
	VBROADCASTSS bounds<>+8(SB), Z26
	TESTQ        R8, R8
	JEQ          alone

stretch:
	VCVTPH2PS   (SI), Z0
	VCVTPH2PS   (R8), Z1
	VSUBPS      Z19, Z0, Z0
	VFMSUB213PS Z20, Z21, Z0
	VMULPS      Z1, Z0, Z2
	VPANDD      Z25, Z0, Z0
	VCMPPS      $9, Z22, Z0, K1 // not at least
	NEAR
	KORW        K1, K2, K1
	KORTESTW    K1, K3
	JNE         exact
	VCVTPS2PH   $0, Z2, (DI)
	ADDQ        $32, SI
	ADDQ        $32, DI

next:
	ADDQ $32, R8
	DECQ CX
	JNE  stretch
	VZEROUPPER
	RET

exact:
	VPXOR     Y8, Y8, Y8
	VPXOR     Y9, Y9, Y9
	VCVTPH2PS (R8), Y6
	VCVTPH2PS 16(R8), Y7
	EXACT
	JMP   next

alone:
	VBROADCASTSS 36(AX), Z23

scale:
	VCVTPH2PS   (SI), Z2
	VSUBPS      Z19, Z2, Z2
	VFMSUB213PS Z20, Z21, Z2
	NEAR
	KORTESTW    K2, K3
	JNE         exactly
	VCVTPS2PH   $0, Z2, (DI)
	ADDQ        $32, SI
	ADDQ        $32, DI

more:
	DECQ CX
	JNE  scale
	VZEROUPPER
	RET

exactly:
	DOUBLES
	VPXORD Z8, Z8, Z8
	VSUBPD Z17, Z0, Z0
	VSUBPD Z17, Z1, Z1
	VMULPD Z18, Z0, Z0
	VMULPD Z18, Z1, Z1
	VADDPD Z8, Z0, Z0     // -0 becomes +0
	VADDPD Z8, Z1, Z1
	ROUND
	JMP    more
