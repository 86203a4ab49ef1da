// Macros of the kernels that compute in float64.

// DOUBLES decodes 16 halves at SI to float64 in Z0 and Z1.
#define DOUBLES \
	VCVTPH2PS (SI), Y0   \
	VCVTPH2PS 16(SI), Y1 \
	VCVTPS2PD Y0, Z0     \
	VCVTPS2PD Y1, Z1     \
	ADDQ      $32, SI

// ROUND rounds the float64s in Z0 and Z1 to halves at DI: to odd, then to nearest even. Each element of Y15 is 1.
#define ROUND \
	VCVTPD2PS.RZ_SAE Z0, Y2         \
	VCVTPD2PS.RZ_SAE Z1, Y3         \
	VCVTPS2PD        Y2, Z4         \
	VCVTPS2PD        Y3, Z5         \
	VCMPPD           $4, Z4, Z0, K1 \
	VCMPPD           $4, Z5, Z1, K2 \
	VPORD            Y15, Y2, K1, Y2 \
	VPORD            Y15, Y3, K2, Y3 \
	VCVTPS2PH        $0, Y2, (DI)   \
	VCVTPS2PH        $0, Y3, 16(DI) \
	ADDQ             $32, DI

#define ONES \
	VPCMPEQD Y15, Y15, Y15 \
	VPSRLD   $31, Y15, Y15
