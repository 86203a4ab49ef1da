package fakeiokit

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/anekit/anekit/internal/plist"
)

// remote are the methods of which iig makes messages, with their parameters and the names of these. A class implements
// NAME_Impl, and calls NAME.
var remote = map[string][2]string{
	"Start":         {"IOService * provider", "provider"},
	"Stop":          {"IOService * provider", "provider"},
	"NewUserClient": {"uint32_t type, IOUserClient ** userClient", "type, userClient"},
	"CopyClientMemoryForType": {"uint64_t type, uint64_t * options, IOMemoryDescriptor ** memory",
		"type, options, memory"},
}

var (
	comments = regexp.MustCompile(`(?m)//.*$`)
	class    = regexp.MustCompile(`(?s)class\s+(\w+)\s*:\s*public\s+(\w+)\s*\{\s*public:(.*)\}\s*;`)
	method   = regexp.MustCompile(`(?s)^virtual\s+kern_return_t\s+(\w+)\((.*)\)\s+override$`)
	spaces   = regexp.MustCompile(`\s+`)
)

// generate makes the header that iig makes of a .iig file, for the stand-ins.
func generate(name, text string) (string, error) {
	m := class.FindStringSubmatch(comments.ReplaceAllString(text, ""))
	if m == nil {
		return "", fmt.Errorf("no class with a public superclass")
	}
	if m[1] != name {
		return "", fmt.Errorf("the class is %s: it has to have the name of the file", m[1])
	}
	if !strings.Contains(text, "#include <DriverKit/"+m[2]+".iig>") {
		return "", fmt.Errorf("does not include <DriverKit/%s.iig>", m[2])
	}
	var b, arguments strings.Builder
	fmt.Fprintf(&b, "#pragma once\n#include \"DriverKit/driverkit.h\"\nstruct %s_IVars;\n", name)
	body := &strings.Builder{}
	for _, decl := range strings.Split(m[3], ";") {
		decl = strings.TrimSpace(spaces.ReplaceAllString(decl, " "))
		if decl == "" {
			continue
		}
		if r := method.FindStringSubmatch(decl); r != nil {
			if known, ok := remote[r[1]]; ok {
				if r[2] != known[0] {
					return "", fmt.Errorf("%s(%s): its parameters are (%s)", r[1], r[2], known[0])
				}
				fmt.Fprintf(&arguments, "#define %s_%s_Args %s\n", name, r[1], known[0])
				fmt.Fprintf(body, "\tkern_return_t %s_Impl(%s);\n", r[1], known[0])
				fmt.Fprintf(body, "\tkern_return_t %s(%s, OSDispatchMethod m = nullptr) override\n", r[1], known[0])
				fmt.Fprintf(body, "\t{ return m ? super::%s(%s) : %s_Impl(%s); }\n", r[1], known[1], r[1],
					known[1])
				continue
			}
		} else if !strings.HasSuffix(decl, " LOCALONLY") && !strings.HasSuffix(decl, " override") {
			return "", fmt.Errorf("%s: neither an override nor LOCALONLY", decl)
		}
		fmt.Fprintf(body, "\t%s;\n", decl)
	}
	b.WriteString(arguments.String())
	fmt.Fprintf(&b, "class %s: public %s\n{\npublic:\n\tFAKE_CLASS(%s, %s)\n\t%s_IVars * ivars;\n%s};\n", name,
		m[2], name, m[2], name, body)
	return b.String(), nil
}

// registry has what the kernel reads of the property lists.
type registry struct {
	classes  []string
	property [][3]string // class of a service, key, class of its dictionary
}

// properties reads Info.plist of an extension.
func (r *registry) properties(dext fs.FS, folder string) error {
	text, err := fs.ReadFile(dext, folder+"/Info.plist")
	if err != nil {
		return err
	}
	list, err := plist.Read(text)
	if err != nil {
		return fmt.Errorf("%s/Info.plist: %w", folder, err)
	}
	for _, personality := range dict(value(list, "IOKitPersonalities")) {
		service, _ := value(personality.Value, "IOUserClass").(string)
		for _, e := range dict(personality.Value) {
			if made, ok := value(e.Value, "IOUserClass").(string); ok {
				r.property = append(r.property, [3]string{service, e.Key, made})
			}
		}
	}
	if len(r.property) == 0 {
		return fmt.Errorf("%s/Info.plist: no personality has properties of a user client", folder)
	}
	return nil
}

func dict(v any) plist.Dict { d, _ := v.(plist.Dict); return d }

func value(v any, key string) any {
	for _, e := range dict(v) {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// text is the source of fake_make and fake_property.
func (r *registry) text() string {
	var b strings.Builder
	b.WriteString("#include \"DriverKit/driverkit.h\"\n")
	for _, c := range r.classes {
		fmt.Fprintf(&b, "OSObject * fake_make_%s();\n", c)
	}
	b.WriteString("OSObject * fake_make(const char * cls)\n{\n")
	for _, c := range r.classes {
		fmt.Fprintf(&b, "\tif (!strcmp(cls, %q)) return fake_make_%s();\n", c, c)
	}
	b.WriteString("\treturn nullptr;\n}\nconst char * fake_property(const char * cls, const char * key)\n{\n")
	for _, p := range r.property {
		fmt.Fprintf(&b, "\tif (!strcmp(cls, %q) && !strcmp(key, %q)) return %q;\n", p[0], p[1], p[2])
	}
	b.WriteString("\treturn nullptr;\n}\n")
	return b.String()
}
