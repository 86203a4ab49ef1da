package info

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/plist"
)

// private matches the names and folders of the test's user.
var private = regexp.MustCompile(`(?i)bob|dave|jones|kim|ivan|oscar|pete|\bwanda\b|\bzed\b`)

// scrubber removes data on the user and keeps data on the machine.
func TestScrub(t *testing.T) {
	s := scrubber{folders: replacer([]string{"/data/Wanda Zed/b", "relative"}), temp: newScrubber().temp,
		names: wordsOf([]string{"Wanda-Air.local", "Wanda-Air", "wanda", "Zed", "Émile"})}
	for text, want := range map[string]string{
		"cannot load /Users/bob/Secret/model.mil: no":                           "cannot load .../model.mil: no",
		`"/Users/Dave Jones/Secret Dir/m.mil"`:                                  `".../m.mil"`,
		"/opt/Wanda Zed/b/libanebridge.dylib is missing":                        ".../libanebridge.dylib is missing",
		"/data/Wanda Zed/b/libanebridge.dylib is missing, in /data/Wanda Zed/b": ".../libanebridge.dylib is missing, in ...",
		"“/Users/kim/x”, `/home/kim/y` |/srv/kim/z|":                            "“.../x”, `.../y` |.../z|",
		"~/ivan/file ../../Users/oscar/x":                                       ".../file .../x",
		"/System/Library/../../Users/pete/x":                                    ".../x",
		"/System/Library/Frameworks/A.framework/A":                              "/System/Library/Frameworks/A.framework/A",
		"ANECCompile(/private/var/folders/ab/c123_xyz/T/6F86_E3B0/) FAILED":     "ANECCompile($TMPDIR/6F86_E3B0) FAILED",
		"/tmp/../Users/pete/x":                                                  ".../x",
		"/Users/bob/Secret Project/model.mil is missing":                        ".../model.mil is missing",
		"/Users/bob": "...",
		"host wanda-air.local, user WANDA, wanda_cache, Émile's": "host ..., user ..., ..._cache, ...'s",
		"wandaful zedoary":    "wandaful zedoary",
		"zed wanda zed zed":   "... ... ... ...",
		"a/b of 3/4, MIL 1/x": "a/b of 3/4, MIL 1/x",
		"identity: 0 of 8192 tensor bytes, NSError com.apple.appleneuralengine": "identity: 0 of 8192 tensor bytes, " +
			"NSError com.apple.appleneuralengine",
	} {
		got := s.text(text)
		require.Empty(t, private.FindString(got), text)
		require.Equal(t, want, got, text)
	}
	tree := s.tree(plist.Dict{{Key: "path", Value: "/Users/bob/x"}, {Key: "n", Value: int64(3)},
		{Key: "list", Value: plist.Array{"of wanda", true}}})
	require.Equal(t, plist.Dict{{Key: "path", Value: ".../x"}, {Key: "n", Value: int64(3)},
		{Key: "list", Value: plist.Array{"of ...", true}}}, tree)
}

// newScrubber adds the folders for temporary files of this process.
func TestScrubThisProcess(t *testing.T) {
	s := newScrubber("/data/Some One/lib/libanebridge.so", "")
	require.Equal(t, "cannot load .../libanebridge.so", s.text("cannot load /data/Some One/lib/libanebridge.so"))
	require.Equal(t, "cannot load .../libanebridge.so", s.text("cannot load /opt/Some One/lib/libanebridge.so"))
	require.NotContains(t, s.text(t.TempDir()+"/x"), "/home")
}
