#include "textflag.h"

// Each function converts 16 elements at a time, then 8, then the last 8 again
// if fewer remain. R2 is the number of remaining elements minus one step.
//
// The conversions depend on the rounding mode, default-NaN and alternative-half bits
// of FPCR. Go runs with all of them clear; if C code on this thread left one
// set, the function clears FPCR and restores it at the end.

// The Go assembler has no names for these (Arm Architecture Reference Manual,
// C7.2, FCVTL and FCVTN; a "2" form uses the upper half of the half vector).
#define FCVTL(n, d)  WORD $(0x0E217800 | n<<5 | d) // Vd.4S <- Vn.4H
#define FCVTL2(n, d) WORD $(0x4E217800 | n<<5 | d) // Vd.4S <- Vn.8H
#define FCVTN(n, d)  WORD $(0x0E216800 | n<<5 | d) // Vd.4H <- Vn.4S
#define FCVTN2(n, d) WORD $(0x4E216800 | n<<5 | d) // Vd.8H <- Vn.4S

#define SHLL16(n, d)  WORD $(0x2E613800 | n<<5 | d) // Vd.4S <- Vn.4H << 16
#define SHLL216(n, d) WORD $(0x6E613800 | n<<5 | d) // Vd.4S <- upper Vn.8H << 16

#define CLEARMODE \
	MOVD FPCR, R3   \
	CBZ  R3, 2(PC)  \
	MOVD ZR, FPCR

#define RESTOREMODE \
	CBZ  R3, 2(PC)    \
	MOVD R3, FPCR

// func encodeVector(dst *Bits, src *float32, n int)
TEXT ·encodeVector(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
	CLEARMODE
	SUBS $16, R2, R2
	BLT  rest

wide:
	VLD1.P 64(R1), [V0.S4, V1.S4, V2.S4, V3.S4]
	FCVTN(0, 4)
	FCVTN(2, 5)
	FCVTN2(1, 4)
	FCVTN2(3, 5)
	VST1.P [V4.H8, V5.H8], 32(R0)
	SUBS   $16, R2, R2
	BGE    wide

rest:
	ADDS $8, R2, R2
	BLT  last
	VLD1.P 32(R1), [V0.S4, V1.S4]
	FCVTN(0, 4)
	FCVTN2(1, 4)
	VST1.P [V4.H8], 16(R0)
	SUB    $8, R2, R2

last:
	CMN  $8, R2
	BEQ  done
	ADD  R2<<2, R1, R1
	ADD  R2<<1, R0, R0
	VLD1 (R1), [V0.S4, V1.S4]
	FCVTN(0, 4)
	FCVTN2(1, 4)
	VST1 [V4.H8], (R0)

done:
	RESTOREMODE
	RET

// func decodeVector(dst *float32, src *Bits, n int)
TEXT ·decodeVector(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
	CLEARMODE
	SUBS $16, R2, R2
	BLT  rest

wide:
	VLD1.P 32(R1), [V4.H8, V5.H8]
	FCVTL(4, 0)
	FCVTL2(4, 1)
	FCVTL(5, 2)
	FCVTL2(5, 3)
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	SUBS   $16, R2, R2
	BGE    wide

rest:
	ADDS $8, R2, R2
	BLT  last
	VLD1.P 16(R1), [V4.H8]
	FCVTL(4, 0)
	FCVTL2(4, 1)
	VST1.P [V0.S4, V1.S4], 32(R0)
	SUB    $8, R2, R2

last:
	CMN  $8, R2
	BEQ  done
	ADD  R2<<1, R1, R1
	ADD  R2<<2, R0, R0
	VLD1 (R1), [V4.H8]
	FCVTL(4, 0)
	FCVTL2(4, 1)
	VST1 [V0.S4, V1.S4], (R0)

done:
	RESTOREMODE
	RET

// func roundVector(dst, src *float32, n int)
//
// In place, the last step rounds some elements again, which does not change
// them.
TEXT ·roundVector(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
	CLEARMODE
	SUBS $16, R2, R2
	BLT  rest

wide:
	VLD1.P 64(R1), [V0.S4, V1.S4, V2.S4, V3.S4]
	FCVTN(0, 0)
	FCVTN(1, 1)
	FCVTN(2, 2)
	FCVTN(3, 3)
	FCVTL(0, 0)
	FCVTL(1, 1)
	FCVTL(2, 2)
	FCVTL(3, 3)
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	SUBS   $16, R2, R2
	BGE    wide

rest:
	ADDS $8, R2, R2
	BLT  last
	VLD1.P 32(R1), [V0.S4, V1.S4]
	FCVTN(0, 0)
	FCVTN(1, 1)
	FCVTL(0, 0)
	FCVTL(1, 1)
	VST1.P [V0.S4, V1.S4], 32(R0)
	SUB    $8, R2, R2

last:
	CMN  $8, R2
	BEQ  done
	ADD  R2<<2, R1, R1
	ADD  R2<<2, R0, R0
	VLD1 (R1), [V0.S4, V1.S4]
	FCVTN(0, 0)
	FCVTN(1, 1)
	FCVTL(0, 0)
	FCVTL(1, 1)
	VST1 [V0.S4, V1.S4], (R0)

done:
	RESTOREMODE
	RET

// func brainVector(dst *Bits, src *Brain, n int)
//
// A bfloat16 is the upper half of a float32.
TEXT ·brainVector(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
	CLEARMODE
	SUBS $16, R2, R2
	BLT  rest

wide:
	VLD1.P 32(R1), [V6.H8, V7.H8]
	SHLL16(6, 0)
	SHLL216(6, 1)
	SHLL16(7, 2)
	SHLL216(7, 3)
	FCVTN(0, 4)
	FCVTN(2, 5)
	FCVTN2(1, 4)
	FCVTN2(3, 5)
	VST1.P [V4.H8, V5.H8], 32(R0)
	SUBS   $16, R2, R2
	BGE    wide

rest:
	ADDS $8, R2, R2
	BLT  last
	VLD1.P 16(R1), [V6.H8]
	SHLL16(6, 0)
	SHLL216(6, 1)
	FCVTN(0, 4)
	FCVTN2(1, 4)
	VST1.P [V4.H8], 16(R0)
	SUB    $8, R2, R2

last:
	CMN  $8, R2
	BEQ  done
	ADD  R2<<1, R1, R1
	ADD  R2<<1, R0, R0
	VLD1 (R1), [V6.H8]
	SHLL16(6, 0)
	SHLL216(6, 1)
	FCVTN(0, 4)
	FCVTN2(1, 4)
	VST1 [V4.H8], (R0)

done:
	RESTOREMODE
	RET

// func finiteVector(src *Bits, n int) bool
//
// n is a multiple of 32 above 0. V6 and V7 are the largest magnitudes. Adding 0x0400 to that of infinity or a NaN sets
// the bit of the sign.
TEXT ·finiteVector(SB), NOSPLIT, $0-17
	MOVD src+0(FP), R1
	MOVD n+8(FP), R2
	MOVD $0x7fff7fff7fff7fff, R3
	VDUP R3, V5.D2
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16

step:
	VLD1.P 64(R1), [V0.H8, V1.H8, V2.H8, V3.H8]
	VAND   V5.B16, V0.B16, V0.B16
	VAND   V5.B16, V1.B16, V1.B16
	VAND   V5.B16, V2.B16, V2.B16
	VAND   V5.B16, V3.B16, V3.B16
	VUMAX  V0.H8, V6.H8, V6.H8
	VUMAX  V1.H8, V7.H8, V7.H8
	VUMAX  V2.H8, V6.H8, V6.H8
	VUMAX  V3.H8, V7.H8, V7.H8
	SUBS   $32, R2, R2
	BNE    step

	VUMAX V6.H8, V7.H8, V7.H8
	VMOV  V7.D[0], R4
	VMOV  V7.D[1], R5
	MOVD  $0x0400040004000400, R3
	ADD   R3, R4, R4
	ADD   R3, R5, R5
	ORR   R4, R5, R5
	MOVD  $0x8000800080008000, R3
	TST   R3, R5
	CSET  EQ, R6
	MOVB  R6, ret+16(FP)
	RET
