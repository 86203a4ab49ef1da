#include "textflag.h"

// func storeVectors(mem []byte, v uint64)
// AVX2 stores that do not read the line first. mem begins at a multiple of 32 and has whole blocks of 128 bytes.
TEXT ·storeVectors(SB), NOSPLIT, $0-32
	MOVQ mem_base+0(FP), DI
	MOVQ mem_len+8(FP), CX
	VPBROADCASTQ v+24(FP), Y0
	SHRQ $7, CX
	JZ   done
block:
	VMOVNTDQ Y0, (DI)
	VMOVNTDQ Y0, 32(DI)
	VMOVNTDQ Y0, 64(DI)
	VMOVNTDQ Y0, 96(DI)
	ADDQ $128, DI
	DECQ CX
	JNZ  block
	SFENCE
done:
	VZEROUPPER
	RET
