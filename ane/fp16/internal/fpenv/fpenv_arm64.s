#include "textflag.h"

// func Get() uint32
TEXT ·Get(SB), NOSPLIT, $0-4
	MOVD FPCR, R0
	MOVW R0, ret+0(FP)
	RET

// func Set(mode uint32)
TEXT ·Set(SB), NOSPLIT, $0-4
	MOVWU mode+0(FP), R0
	MOVD  R0, FPCR
	RET
