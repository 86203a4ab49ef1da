#include "textflag.h"

// Copies of each number that the kernels need, as many as a register has.
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

#define FOUR(name, value) \
	DATA name<>+0(SB)/8, $value; \
	DATA name<>+8(SB)/8, $value; \
	DATA name<>+16(SB)/8, $value; \
	DATA name<>+24(SB)/8, $value; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

EIGHT(walkExponent, 0x7f800000)
EIGHT(walkNormal, 0x38800000)
EIGHT(walkSign, 0x80000000)
EIGHT(walkHalf, 0x3f000000)
FOUR(walkMagnitude, 0x7fffffffffffffff)
FOUR(walkPast, 0x41e0000000000000)    // 2^31
FOUR(walkField, 0x7ff0000000000000)
FOUR(walkMagic, 0x4288000000000000)   // 1.5 * 2^41
FOUR(walkFours, 0x41b0000000000000)   // 2^28

// ROW loads a row of B into Y8, and its exponents into Y9.
#define ROW \
	VMOVUPS (DX), Y8                   \
	VPAND   walkExponent<>(SB), Y8, Y9 \
	VPMAXSD walkNormal<>(SB), Y9, Y9   \
	ADDQ    R8, DX

// PRODUCTS leaves the rounded products of one row of A in low and high, as float64. Y12 and
// Y13 are changed.
#define PRODUCTS(at, of, low, high) \
	VBROADCASTSS at, Y12                  \
	VPBROADCASTD of, Y13                  \
	VMULPS       Y8, Y12, Y12             \
	VPCMPGTD     Y13, Y9, Y13             \
	VPAND        Y13, Y12, Y12            \
	VANDPS       walkSign<>(SB), Y12, Y13 \
	VORPS        walkHalf<>(SB), Y13, Y13 \
	VADDPS       Y13, Y12, Y12            \
	VROUNDPS     $3, Y12, Y12             \
	VCVTPS2PD    X12, low                 \
	VEXTRACTF128 $1, Y12, X12             \
	VCVTPS2PD    X12, high

// FIRST leaves the products of a row of B with two rows of A in Y4 to Y7.
#define FIRST \
	ROW                          \
	PRODUCTS((SI), (BX), Y4, Y5) \
	PRODUCTS((SI)(R9*1), (BX)(R9*1), Y6, Y7)

// COUNT adds p to sum unless that has left the range. p and s are changed; t is for COUNTINSIDE.
#define COUNT(sum, p, s, t) \
	VANDPD Y14, sum, s     \
	VCMPPD $1, Y15, s, s   \
	VANDPD s, p, p         \
	VADDPD p, sum, sum

// ALL counts the products, or the groups, by count.
#define ALL(count) \
	count(Y0, Y4, Y10, Y11) \
	count(Y1, Y5, Y12, Y13) \
	count(Y2, Y6, Y10, Y11) \
	count(Y3, Y7, Y12, Y13)

// JOIN adds p to g, rounded half to even to 12 significant bits of the larger one if that is 2^28 or more. p, Y12 and
// Y13 are changed.
#define JOIN(g, p) \
	VANDPD Y14, g, Y12                  \
	VANDPD Y14, p, Y13                  \
	VADDPD p, g, g                      \
	VMAXPD Y13, Y12, Y12                \
	VCMPPD $13, walkFours<>(SB), Y12, Y13 \
	VANDPD walkField<>(SB), Y12, Y12    \
	VANDPD Y13, Y12, Y12                \
	VMULPD walkMagic<>(SB), Y12, Y12    \
	VADDPD Y12, g, g                    \
	VSUBPD Y12, g, g

// NEXT joins the products of element o of a group to the groups, by join.
#define NEXT(join, o) \
	ROW                                          \
	PRODUCTS(o(SI), o(BX), Y10, Y11)             \
	join(Y4, Y10)                                \
	join(Y5, Y11)                                \
	PRODUCTS(o(SI)(R9*1), o(BX)(R9*1), Y10, Y11) \
	join(Y6, Y10)                                \
	join(Y7, Y11)

// GROUPS sums the products of four rows of B, inside their groups by join, and the groups by count.
#define GROUPS(join, count) \
	FIRST          \
	NEXT(join, 4)  \
	NEXT(join, 8)  \
	NEXT(join, 12) \
	ALL(count)     \
	ADDQ $16, SI   \
	ADDQ $16, BX   \
	SUBQ $4, CX

// JOININSIDE is JOIN, unless g has left the range: then it keeps g outside, with its sign.
#define JOININSIDE(g, p) \
	VANDPD Y14, g, Y12               \
	VCMPPD $1, Y15, Y12, Y13         \
	VANDPD Y13, p, p                 \
	VANDPD Y14, p, Y13               \
	VADDPD p, g, g                   \
	VMAXPD Y13, Y12, Y12             \
	VCMPPD $13, walkFours<>(SB), Y12, Y13 \
	VANDPD walkField<>(SB), Y12, Y12 \
	VANDPD Y13, Y12, Y12             \
	VMULPD walkMagic<>(SB), Y12, Y12 \
	VADDPD Y12, g, g                 \
	VSUBPD Y12, g, g

// COUNTINSIDE adds g to sum unless that has left the range. A g that has left it replaces sum. s and t are changed.
#define COUNTINSIDE(sum, g, s, t) \
	VANDPD    Y14, sum, s  \
	VCMPPD    $1, Y15, s, s \
	VANDPD    s, g, t      \
	VADDPD    t, sum, sum  \
	VANDPD    Y14, t, t    \
	VCMPPD    $13, Y15, t, t \
	VBLENDVPD t, g, sum, sum

// func walkTile(sums *float64, a *float32, least *int32, b *float32, n, k, depth int, fours, inside, wide bool)
//
// 2 rows of 8 columns: Y0 to Y3 are the sums, Y4 to Y7 the groups.
TEXT ·walkTile(SB), NOSPLIT, $0-59
	CMPB wide+58(FP), $0
	JNE  wide
	MOVQ    sums+0(FP), DI
	MOVQ    a+8(FP), SI
	MOVQ    least+16(FP), BX
	MOVQ    b+24(FP), DX
	MOVQ    n+32(FP), R8
	MOVQ    k+40(FP), R9
	MOVQ    depth+48(FP), CX
	SHLQ    $2, R8
	SHLQ    $2, R9
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	VMOVUPD 96(DI), Y3
	VMOVUPD walkMagnitude<>(SB), Y14
	VMOVUPD walkPast<>(SB), Y15
	CMPB fours+56(FP), $0
	JEQ  exact
	CMPB inside+57(FP), $0
	JNE  inside

fours:
	GROUPS(JOIN, COUNT)
	JNE fours
	JMP done

inside:
	GROUPS(JOININSIDE, COUNTINSIDE)
	JNE inside
	JMP done

exact:
	FIRST
	ALL(COUNT)
	ADDQ $4, SI
	ADDQ $4, BX
	DECQ CX
	JNE  exact

done:
	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VZEROUPPER
	RET

wide:
	JMP walk512<>(SB)

EIGHT(walkMagnitudeHalf, 0x7fffffff)

// ROW512 is ROW: Z30 is the row of B, Z31 its exponents.
#define ROW512 \
	VMOVUPS (DX), Z30     \
	VPANDD  Z20, Z30, Z31 \
	VPMAXSD Z21, Z31, Z31 \
	ADDQ    R8, DX

// PRODUCTS512 is PRODUCTS for 16 columns. Z18 and Z19 are changed.
#define PRODUCTS512(at, of, low, high) \
	VPCMPGTD.BCST of, Z31, K1          \
	VMULPS.BCST.Z at, Z30, K1, Z18     \
	VMOVDQA32     Z18, Z19             \
	VPTERNLOGD    $0xBA, Z23, Z22, Z19 \
	VADDPS        Z19, Z18, Z18        \
	VRNDSCALEPS   $3, Z18, Z18         \
	VCVTPS2PD     Y18, low             \
	VEXTRACTF64X4 $1, Z18, Y18         \
	VCVTPS2PD     Y18, high

// COUNT512 adds p to sum where that is between -2^31 and 2^31. t is changed.
#define COUNT512(sum, p, t, k) \
	VPANDQ Z28, sum, t    \
	VCMPPD $1, Z24, t, k  \
	VADDPD p, sum, k, sum

// JOIN512 is JOIN: VRANGEPD gives the larger magnitude, and its product with the magic number is exact.
#define JOIN512(g, p) \
	VRANGEPD     $11, p, g, Z18 \
	VADDPD       p, g, g        \
	VCMPPD       $13, Z27, Z18, K7 \
	VPANDQ.Z     Z25, Z18, K7, Z18 \
	VFMADD231PD  Z26, Z18, g    \
	VFNMADD231PD Z26, Z18, g

// JOININSIDE512 is JOIN512, unless g has left the range: then it keeps g. Z18, Z19 and K6 are changed.
#define JOININSIDE512(g, p) \
	VPANDQ       Z28, g, Z19        \
	VRANGEPD     $11, p, g, Z18     \
	VCMPPD       $1, Z24, Z19, K6   \
	VADDPD       p, g, K6, g        \
	VCMPPD       $13, Z27, Z18, K6, K6 \
	VPANDQ.Z     Z25, Z18, K6, Z18  \
	VFMADD231PD  Z26, Z18, g        \
	VFNMADD231PD Z26, Z18, g

// COUNTINSIDE512 is COUNTINSIDE: k are the sums inside the range, then those of them whose group is outside.
#define COUNTINSIDE512(sum, g, t, k) \
	VPANDQ  Z28, sum, t       \
	VCMPPD  $1, Z24, t, k     \
	VADDPD  g, sum, k, sum    \
	VPANDQ  Z28, g, t         \
	VCMPPD  $13, Z24, t, k, k \
	VMOVAPD g, k, sum

// FIRST512 leaves the products of a row of B with four rows of A in Z8 to Z15.
#define FIRST512 \
	ROW512                                           \
	PRODUCTS512((SI), (BX), Z8, Z9)                  \
	PRODUCTS512((SI)(R9*1), (BX)(R9*1), Z10, Z11)    \
	PRODUCTS512((SI)(R9*2), (BX)(R9*2), Z12, Z13)    \
	PRODUCTS512((SI)(R11*1), (BX)(R11*1), Z14, Z15)

// NEXT512 adds those of a later row to them with join.
#define NEXT512(o, join) \
	ROW512                                             \
	PRODUCTS512(o(SI), o(BX), Z16, Z17)                \
	join(Z8, Z16)                                      \
	join(Z9, Z17)                                      \
	PRODUCTS512(o(SI)(R9*1), o(BX)(R9*1), Z16, Z17)    \
	join(Z10, Z16)                                     \
	join(Z11, Z17)                                     \
	PRODUCTS512(o(SI)(R9*2), o(BX)(R9*2), Z16, Z17)    \
	join(Z12, Z16)                                     \
	join(Z13, Z17)                                     \
	PRODUCTS512(o(SI)(R11*1), o(BX)(R11*1), Z16, Z17)  \
	join(Z14, Z16)                                     \
	join(Z15, Z17)

#define ALL512(count) \
	count(Z0, Z8, Z18, K2)  \
	count(Z1, Z9, Z19, K3)  \
	count(Z2, Z10, Z16, K4) \
	count(Z3, Z11, Z17, K5) \
	count(Z4, Z12, Z18, K2) \
	count(Z5, Z13, Z19, K3) \
	count(Z6, Z14, Z16, K4) \
	count(Z7, Z15, Z17, K5)

// GROUPS512 is GROUPS.
#define GROUPS512(join, count) \
	FIRST512           \
	NEXT512(4, join)  \
	NEXT512(8, join)  \
	NEXT512(12, join) \
	ALL512(count)      \
	ADDQ $16, SI       \
	ADDQ $16, BX       \
	SUBQ $4, CX

// walk512 is walkTile for 4 rows of 16 columns: Z0 to Z7 are the sums, Z8 to Z15 the groups.
TEXT walk512<>(SB), NOSPLIT, $0-59
	MOVQ         sums+0(FP), DI
	MOVQ         a+8(FP), SI
	MOVQ         least+16(FP), BX
	MOVQ         b+24(FP), DX
	MOVQ         n+32(FP), R8
	MOVQ         k+40(FP), R9
	MOVQ         depth+48(FP), CX
	SHLQ         $2, R8
	SHLQ         $2, R9
	LEAQ         (R9)(R9*2), R11
	VMOVUPD      (DI), Z0
	VMOVUPD      64(DI), Z1
	VMOVUPD      128(DI), Z2
	VMOVUPD      192(DI), Z3
	VMOVUPD      256(DI), Z4
	VMOVUPD      320(DI), Z5
	VMOVUPD      384(DI), Z6
	VMOVUPD      448(DI), Z7
	VPBROADCASTD walkExponent<>(SB), Z20
	VPBROADCASTD walkNormal<>(SB), Z21
	VPBROADCASTD walkMagnitudeHalf<>(SB), Z22
	VPBROADCASTD walkHalf<>(SB), Z23
	VPBROADCASTQ walkPast<>(SB), Z24
	VPBROADCASTQ walkField<>(SB), Z25
	VPBROADCASTQ walkMagic<>(SB), Z26
	VPBROADCASTQ walkFours<>(SB), Z27
	VPBROADCASTQ walkMagnitude<>(SB), Z28
	CMPB fours+56(FP), $0
	JEQ  exact
	CMPB inside+57(FP), $0
	JNE  inside

fours:
	GROUPS512(JOIN512, COUNT512)
	JNE fours
	JMP done

inside:
	GROUPS512(JOININSIDE512, COUNTINSIDE512)
	JNE inside
	JMP done

exact:
	FIRST512
	ALL512(COUNT512)
	ADDQ $4, SI
	ADDQ $4, BX
	DECQ CX
	JNE  exact

done:
	VMOVUPD Z0, (DI)
	VMOVUPD Z1, 64(DI)
	VMOVUPD Z2, 128(DI)
	VMOVUPD Z3, 192(DI)
	VMOVUPD Z4, 256(DI)
	VMOVUPD Z5, 320(DI)
	VMOVUPD Z6, 384(DI)
	VMOVUPD Z7, 448(DI)
	VZEROUPPER
	RET
