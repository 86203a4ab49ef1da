package apple

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/objcbridge"
)

// The bridge sends only indices that the program has, so status 0x2 of a run or a load is lack of memory: on an M5 Pro it
// came near the limit of wired memory, on an M3 Max as 0x20004 with a large program. Codes 34 and 54 are of macOS 27.
func TestMeaningOfCodes(t *testing.T) {
	const stageRequest = objcbridge.Stage(9)
	require.Equal(t, "request", stageRequest.String())
	for _, c := range []struct {
		stage  objcbridge.Stage
		code   int64
		status uint32 // 0 for none
		want   error
		hint   string
	}{
		{objcbridge.StageEvaluate, 8, 0x2, ane.ErrExhausted, "the memory that the engine can wire is probably near its limit"},
		{objcbridge.StageLoad, 6, 0x20004, ane.ErrExhausted, "close Requests and Models"},
		{objcbridge.StageLoad, 6, 0x2, ane.ErrExhausted, "close Requests and Models"},
		{objcbridge.StageLoad, 6, 0x50004, ane.ErrExhausted, "share its program slots: close Models"},
		{objcbridge.StageLoad, 54, 0, ane.ErrExhausted, "share its program slots: close Models"},
		{stageRequest, 8, 0x2, ane.ErrName, "compile the program again"},
		{objcbridge.StageEvaluate, 34, 0, ane.ErrCancelled, "try again"},
		{objcbridge.StageEvaluate, 8, 0x12, ane.ErrCancelled, "try again"},
		{objcbridge.StageEvaluate, 8, 0xb, ane.ErrEngine, ""},
	} {
		hint, sentinel := meaning(&objcbridge.Error{Stage: c.stage, Kind: objcbridge.KindNSError,
			Domain: objcbridge.DomainEngine, Code: c.code, HasStatus: c.status != 0, Status: c.status})
		require.Equal(t, c.want, sentinel, "%+v", c)
		require.Contains(t, hint, c.hint, "%+v", c)
	}
}
