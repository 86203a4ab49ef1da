#include "textflag.h"

// The fields of parts.
#define P_SCALE 0
#define P_HALF 8
#define P_SINGLE 16
#define P_BYTES 24
#define P_SIGNED 32
#define P_COUNT 40
#define P_TO 48
#define P_STRIDE 56
#define P_MAGIC 64
#define P_MOST 68
#define P_UNIT 72
#define P_LEAST 76
#define P_TOP 80
#define P_WIDE 84
#define P_FULL 88
#define P_SURE 92

// func split(p *parts) (wrong, inexact bool)
TEXT ·split(SB), NOSPLIT, $0-10
	MOVQ         p+0(FP), AX
	MOVQ         P_SCALE(AX), SI
	MOVQ         P_HALF(AX), R8
	MOVQ         P_SINGLE(AX), R9
	MOVQ         P_BYTES(AX), R10
	MOVQ         P_SIGNED(AX), R11
	MOVQ         P_COUNT(AX), CX
	MOVQ         P_TO(AX), DI
	MOVQ         P_STRIDE(AX), R12
	LEAQ         (DI)(R12*2), R13
	VBROADCASTSS P_MAGIC(AX), Z16
	VBROADCASTSS P_MOST(AX), Z17
	VBROADCASTSS P_UNIT(AX), Z23
	VBROADCASTSS P_LEAST(AX), Z24
	VBROADCASTSS P_TOP(AX), Z25
	VBROADCASTSS P_WIDE(AX), Z26
	MOVL         P_SURE(AX), R14
	MOVL         P_FULL(AX), AX
	KMOVW        AX, K6
	MOVL         $0x7F800000, AX
	VPBROADCASTD AX, Z18
	MOVL         $0x7FFFFFFF, AX
	VPBROADCASTD AX, Z19
	MOVL         $0x477FE000, AX          // 65504
	VPBROADCASTD AX, Z20
	MOVL         $0x12800000, AX          // 2^-90
	VPBROADCASTD AX, Z21
	VPXORD       Z22, Z22, Z22
	XORL         BX, BX                   // wrong
	XORL         R15, R15                 // inexact
	MOVL         $0xFFFF, DX
	KMOVW        DX, K7

next:
	CMPQ  CX, $16
	JGE   whole
	MOVL  $1, DX
	SHLL  CX, DX
	DECL  DX
	KMOVW DX, K7

whole:
	PREFETCHT1  4096(SI)
	VCVTPH2PS.Z (SI), K7, Z0
	ADDQ        $32, SI
	VPXORD      Z1, Z1, Z1
	TESTQ       R8, R8
	JNE         half
	TESTQ       R9, R9
	JNE         single
	TESTQ       R10, R10
	JEQ         known
	TESTQ       R11, R11
	JNE         signed
	VPMOVZXBD.Z (R10), K7, Z1
	JMP         integer

signed:
	VPMOVSXBD.Z (R10), K7, Z1

integer:
	VCVTDQ2PS Z1, Z1
	ADDQ      $16, R10
	JMP       known

half:
	PREFETCHT1  4096(R8)
	VCVTPH2PS.Z (R8), K7, Z1
	ADDQ        $32, R8
	JMP         known

single:
	PREFETCHT1 8192(R9)
	VMOVUPS.Z (R9), K7, Z1
	ADDQ      $64, R9

known:
	TESTL         R14, R14
	JNE           sure
	VPANDD        Z19, Z0, Z2
	VPANDD        Z19, Z1, Z3
	VCMPPS        $0x16, Z17, Z3, K2        // the offset is above most
	VCMPPS        $0x11, Z21, Z3, K3        // it is below 2^-90, and not 0
	VCMPPS        $0x04, Z22, Z3, K3, K3
	KORW          K3, K2, K2
	VADDPS        Z17, Z3, Z3               // most is more than an integer
	VMULPS        Z3, Z2, Z2
	VCMPPS        $0x16, Z20, Z2, K1        // an element may be above 65504
	KORW          K1, K2, K2
	KMOVW         K2, DX
	ORL           DX, BX
	VMULPS        Z23, Z1, Z2               // the offset has a bit below the unit
	VRNDSCALEPS   $0, Z2, Z3
	VCMPPS        $0x04, Z3, Z2, K1
	VSUBPS        Z1, Z24, Z2               // it is far from an integer
	VSUBPS        Z1, Z25, Z3
	VPANDD        Z19, Z2, Z2
	VPANDD        Z19, Z3, Z3
	VMAXPS        Z3, Z2, Z2
	VCMPPS        $0x16, Z26, Z2, K2
	KORW          K1, K2, K2
	KMOVW         K2, DX
	ORL           DX, R15

sure:
	VMULPS        Z0, Z1, Z4
	VMOVUPS       Z0, (DI)
	VMOVUPS       Z4, (DI)(R12*1)
	KTESTW        K6, K6
	JEQ           done
	VMOVAPS       Z1, Z5                    // what rounding took of the product
	VFMSUB213PS   Z4, Z0, Z5
	VPANDD        Z18, Z0, Z6
	VMULPS        Z16, Z6, Z6
	VADDPS        Z6, Z4, Z7
	VSUBPS        Z6, Z7, Z7
	VMOVUPS       Z7, (R13)
	VSUBPS        Z7, Z4, Z4
	VADDPS.RD_SAE Z5, Z4, Z8
	VADDPS.RU_SAE Z5, Z4, Z9
	VMOVUPS       Z8, (R13)(R12*1)
	VMOVUPS       Z9, (R13)(R12*2)

done:
	ADDQ          $64, DI
	ADDQ          $64, R13
	SUBQ          $16, CX
	JG            next
	TESTL         BX, BX
	SETNE         wrong+8(FP)
	TESTL         R15, R15
	SETNE         inexact+9(FP)
	VZEROUPPER
	RET
