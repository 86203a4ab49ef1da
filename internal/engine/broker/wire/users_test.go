package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A descriptor is given back by the last call inside after close, and over says that close
// was called, also when no call is inside any more.
func TestUsersLeaveOneByOne(t *testing.T) {
	var u users
	require.False(t, u.enter(), "never opened")
	u.open()
	require.True(t, u.enter())
	require.False(t, u.over())
	require.True(t, u.close())
	require.False(t, u.close(), "once")
	require.False(t, u.enter())
	require.True(t, u.over())
	require.False(t, u.leave(), "another call is inside")
	require.True(t, u.leave())
	require.True(t, u.over())
}
