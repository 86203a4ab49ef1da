package fakeiokit

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const good = `// A comment: class Other: public IOService
#include <DriverKit/IOService.iig>
class Thing: public IOService
{
public:
	virtual bool init() override;
	virtual kern_return_t Start(IOService * provider) override;
	int Own(int a,
	    int b) LOCALONLY;
};
`

// The header declares what iig's would: a method of a message has an implementation and a way to the superclass.
func TestGenerate(t *testing.T) {
	header, err := generate("Thing", good)
	require.NoError(t, err)
	require.Contains(t, header, "#define Thing_Start_Args IOService * provider\n")
	require.Contains(t, header, "class Thing: public IOService\n{\npublic:\n\tFAKE_CLASS(Thing, IOService)\n")
	require.Contains(t, header, "\tkern_return_t Start_Impl(IOService * provider);\n")
	require.Contains(t, header, "{ return m ? super::Start(provider) : Start_Impl(provider); }\n")
	require.Contains(t, header, "\tint Own(int a, int b) LOCALONLY;\n")
	require.NotContains(t, header, "Other")
}

func TestFaultsOfDeclarations(t *testing.T) {
	for name, x := range map[string]struct{ class, text, want string }{
		"no class":   {"Thing", "", "no class"},
		"other name": {"Other", good, "the class is Thing"},
		"no include": {"Thing", "class Thing: public IOService { public: };",
			"does not include <DriverKit/IOService.iig>"},
		"parameters": {"Thing", good[:len(good)-4] + "virtual kern_return_t Stop(int x) override;\n};",
			"its parameters are"},
		"not declared": {"Thing", good[:len(good)-4] + "int f();\n};", "neither an override nor LOCALONLY"},
	} {
		_, err := generate(x.class, x.text)
		require.ErrorContains(t, err, x.want, name)
	}
}

func TestFaultsOfPropertyLists(t *testing.T) {
	var r registry
	require.Error(t, r.properties(fstest.MapFS{}, "x"))
	for text, want := range map[string]string{
		"<plist":                            "x/Info.plist",
		"<plist><dict/></plist>":            "no personality",
		"<plist><string>a</string></plist>": "no personality",
	} {
		require.ErrorContains(t, r.properties(fstest.MapFS{"x/Info.plist": {Data: []byte(text)}}, "x"), want)
	}
}
