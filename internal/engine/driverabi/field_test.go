package driverabi

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// place is a field as the source has it: its offset, and the width in bits that this package
// reads.
type place struct{ offset, width int }

func places(fields ...any) (out []place) {
	for _, f := range fields {
		switch at := f.(type) {
		case Field32:
			out = append(out, place{int(at), 32})
		case Field64:
			out = append(out, place{int(at), 64})
		}
	}
	return out
}

// golden: b begins with the bytes wanted and is 0 after them.
func golden(t *testing.T, b []byte, want string) {
	t.Helper()
	n := len(want) / 2
	require.Equal(t, want, hex.EncodeToString(b[:n]))
	require.Equal(t, make([]byte, len(b)-n), b[n:])
}

func zeros(n int) string { return hex.EncodeToString(make([]byte, n)) }

// The offsets and values of table 27.3.
func TestTable273(t *testing.T) {
	require.Zero(t, DeviceUsage)
	require.Equal(t, []place{{0x00, 64}, {0x08, 64}, {0x10, 64}, {0x18, 32}, {0x48, 32}, {0x4c, 32}, {0x50, 32},
		{0x60, 32}},
		places(DeviceToken, DeviceCallback, DeviceContext, DeviceTimeout, DeviceVersion, DeviceRevision, DeviceEngines,
			DeviceCPUSubtype))
	b := make([]byte, DeviceInfoSize)
	DeviceToken.Put(b, 0x1122334455667788)
	DeviceCallback.Put(b, HandshakeBoardID)
	DeviceContext.Put(b, 0xa1a2a3a4a5a6a7a8)
	DeviceTimeout.Put(b, HandshakeTimeout)
	DeviceVersion.Put(b, HandshakeVersion)
	DeviceRevision.Put(b, HandshakeRevision)
	DeviceEngines.Put(b, HandshakeEngines)
	DeviceCPUSubtype.Put(b, HandshakeCPUSubtype)
	golden(t, b, "8877665544332211"+"4444333322221111"+"a8a7a6a5a4a3a2a1"+"10270000"+ // +0x00, +0x08, +0x10, +0x18
		zeros(0x48-0x1c)+"2000000000010000"+ // +0x48: 0x20 = 32, 256
		"01000000"+zeros(12)+ // +0x50
		"04000000") // +0x60
	require.EqualValues(t, 0x2710, HandshakeTimeout)
	require.EqualValues(t, HandshakeTimeout, DeviceTimeout.Get(b))
	require.EqualValues(t, 0x1111222233334444, DeviceCallback.Get(b))
}

// Table 27.3 and the text below it.
func TestUsage(t *testing.T) {
	require.EqualValues(t, 1, UsageStandard)
	require.EqualValues(t, 2, UsageUnsupported)
	require.Equal(t, Success, UsageStandard.Check())
	require.Equal(t, Return(24), UsageUnsupported.Check())
	for _, u := range []UsageType{0, 3, 255} {
		require.Equal(t, BadArgument, u.Check())
	}
}

// The offsets and values of table 27.6.
func TestTable276(t *testing.T) {
	require.Equal(t, []place{{0x000, 64}, {0x008, 32}, {0x010, 32}, {0x014, 32}, {0x01c, 32}},
		places(RequestToken, RequestSequence, RequestPriority, RequestQoS, RequestCategory))
	require.Equal(t, 0x020, RequestSurfaces)
	b := make([]byte, SendRequestSize)
	RequestToken.Put(b, 0x1122334455667788)
	RequestSequence.Put(b, 1)
	RequestPriority.Put(b, Priority(QoSDefault))
	RequestQoS.Put(b, QoSDefault)
	RequestCategory.Put(b, IOCategory)
	PutSurfaces(b, []uint32{0xa0a1a2a3, 7})
	golden(t, b, "8877665544332211"+ // +0x000
		"01000000"+"00000000"+ // +0x008
		"05000000"+"15000000"+ // +0x010
		"00000000"+"02000000"+ // +0x01c
		"a3a2a1a007000000") // +0x020
	require.EqualValues(t, 0x1122334455667788, RequestToken.Get(b))
	require.EqualValues(t, 21, RequestQoS.Get(b))
}

// Text below table 27.6.
func TestReply(t *testing.T) {
	require.Equal(t, []place{{0x00, 32}, {0x04, 32}, {0x08, 64}, {0x20, 32}},
		places(ReplySequence, ReplyResult, ReplyToken, ReplyStatus))
	b := make([]byte, SendReplySize)
	ReplySequence.Put(b, 1)
	ReplyResult.Put(b, 2)
	ReplyToken.Put(b, 0x1122334455667788)
	ReplyStatus.Put(b, 3)
	golden(t, b, "01000000"+"02000000"+"8877665544332211"+zeros(16)+"03000000")
}

func TestSurfaces(t *testing.T) {
	b := make([]byte, SendRequestSize)
	require.Empty(t, Identifiers(Surfaces(b)))
	ids := make([]uint32, MaxSurfaces)
	for i := range ids {
		ids[i] = uint32(i + 1)
	}
	require.Equal(t, 128, MaxSurfaces)
	last := b[0x20+4*MaxSurfaces:]
	last[0] = 0xee // right after the last place
	PutSurfaces(b, ids)
	require.Equal(t, ids, Identifiers(Surfaces(b)), "full, and not one more")
	PutSurfaces(b, []uint32{9})
	require.Equal(t, []uint32{9}, Identifiers(Surfaces(b)))
	require.Panics(t, func() { PutSurfaces(b, append(ids, 129)) })
	require.EqualValues(t, 0xee, last[0])
	PutSurfaces(b, nil)
	require.Empty(t, Identifiers(Surfaces(b)))
	require.Equal(t, zeros(4*MaxSurfaces), hex.EncodeToString(b[0x20:][:4*MaxSurfaces]), "no place keeps what it had")
}

func TestSendDoesNotAllocate(t *testing.T) {
	request, reply, ids := make([]byte, SendRequestSize), make([]byte, SendReplySize), make([]uint32, 0, MaxSurfaces)
	d := NewDispatcher(ControlMethods(), map[int]Handler{ControlSendRequest: func(_ any, a *Args) error {
		ReplyToken.Put(a.StructOut, RequestToken.Get(a.StructIn))
		return nil
	}})
	a := &Args{ScalarIn: make([]uint64, 1), StructIn: request, StructOut: reply}
	client, wrong := new(int), &Args{}
	bad := false
	require.Zero(t, testing.AllocsPerRun(100, func() {
		RequestToken.Put(request, 5)
		PutSurfaces(request, append(ids, 1, 2, 3))
		bad = bad || d.Call(client, ControlSendRequest, a) != nil || ReplyToken.Get(reply) != 5 ||
			len(Surfaces(request)) != 12 || d.Call(client, ControlSendRequest, wrong) != BadArgument
	}))
	require.False(t, bad)
}
