#include "textflag.h"

// func storeVectors(mem []byte, v uint64)
// NEON stores. mem has whole blocks of 128 bytes.
TEXT ·storeVectors(SB), NOSPLIT, $0-32
	MOVD mem_base+0(FP), R0
	MOVD mem_len+8(FP), R1
	MOVD v+24(FP), R2
	VDUP R2, V0.D2
	VDUP R2, V1.D2
	VDUP R2, V2.D2
	VDUP R2, V3.D2
	LSR  $7, R1, R1
	CBZ  R1, done
block:
	VST1.P [V0.D2, V1.D2, V2.D2, V3.D2], 64(R0)
	VST1.P [V0.D2, V1.D2, V2.D2, V3.D2], 64(R0)
	SUB  $1, R1, R1
	CBNZ R1, block
done:
	RET
