package driver

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// FuzzCalls reads a list of calls from bytes: which connection, which selector, the
// bytes of the structure. Words 0xee01 to 0xee07 stand for what the client has, so that
// many calls get past the first check. Nothing panics, and the rig finds everything undone.
func FuzzCalls(f *testing.F) {
	f.Add([]byte{0, 3, 1, 0xee})
	f.Add([]byte{0, 3, 3, 0xee, 0, 0, 0, 4, 3, 0xee, 1, 5, 1, 0, 0, 0})
	f.Add([]byte{0, 2, 1, 0xee, 0, 0, 0, 0, 0, 0, 5, 0, 1, 2, 1, 2, 1, 1, 0, 0, 0, 4, 4})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newRig(t).bounded(4, totalDepth)
		info := privileged
		info.Wake = func(Completion) {}
		c := r.opened(info)
		res, err := r.driver.AddProgram(adapter{r.engine.compile()})
		require.NoError(t, err)
		token := r.prepared(c, res)
		second, weights := r.program(), r.weights()
		surfaces := r.pair(c)
		ch, ret := chain1(c, token)
		require.NoError(t, ret)
		known := []uint64{token, res, second, weights, ch.Token, uint64(surfaces[0]), uint64(surfaces[1])}
		for calls := 0; len(data) > 1 && calls < 64; calls++ {
			direct, selector := data[0]&1 == 1, int(data[1]%20)-1
			short := data[0]&0x80 != 0
			port := uint64(data[0] >> 1 & 1)
			data = data[2:]
			table, call := driverabi.ControlMethods(), c.Control
			if direct {
				table, call = driverabi.DirectMethods(), c.Direct
			}
			a := &driverabi.Args{AsyncPort: port}
			if selector >= 0 && selector < len(table) {
				a = fitting(table[selector])
				a.AsyncPort = port
			}
			if selector == 2 { // a request that is right but for what the bytes change
				a.StructIn = ask{token: token, sequence: c.next, surfaces: surfaces}.args().StructIn
			}
			n := min(len(data), 64)
			for i := 0; i+4 <= n && i+4 <= len(a.StructIn); i += 4 {
				word := data[i : i+4]
				if w := binary.LittleEndian.Uint16(word); w > 0xee00 && w <= 0xee07 && i+8 <= len(a.StructIn) {
					v := known[w-0xee01]
					if word[2]&1 == 0 {
						le.PutUint64(a.StructIn[i:], v)
						i += 4
						continue
					}
					le.PutUint32(a.StructIn[i:], uint32(v))
				} else if w != 0 {
					copy(a.StructIn[i:], word)
				}
			}
			for i := range a.ScalarIn {
				a.ScalarIn[i] = uint64(selector)
			}
			if short && len(a.StructIn) > 0 {
				a.StructIn = a.StructIn[1:]
				require.Error(t, call(selector, a), "a byte less")
			} else {
				call(selector, a)
			}
			data = data[n:]
		}
		require.NoError(t, c.Close(context.Background()))
	})
}
