package plist_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/plist"
)

func TestNearestIsTheFirstOfTheLeastDepth(t *testing.T) {
	named := func(name string) plist.Dict { return plist.Dict{{Key: "is", Value: name}} }
	is := func(d plist.Dict) bool { _, ok := d.Get("is"); return ok }
	root := plist.Dict{
		{Key: "deep", Value: plist.Array{plist.Dict{{Key: "x", Value: named("deep")}}}},
		{Key: "list", Value: plist.Array{"text", named("first"), named("second")}},
	}
	found, ok := plist.Nearest(root, is)
	require.True(t, ok)
	require.Equal(t, named("first"), found)
	_, ok = plist.Nearest(root, func(plist.Dict) bool { return false })
	require.False(t, ok)
	_, ok = plist.Nearest("text", is)
	require.False(t, ok)
	top, _ := plist.Nearest(append(named("top"), root...), is)
	require.Len(t, top, 3)
}
