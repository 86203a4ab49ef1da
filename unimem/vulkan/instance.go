package vulkan

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Info describes a device.
type Info struct {
	Name   string // of the device
	Driver string // name and version of the driver
	ID     string // deviceUUID in hexadecimal digits: the same at every start; zeros below Vulkan 1.2
	// Kind is "integrated" (shares the memory of the CPU), "discrete" (reaches Blocks over a bus), "virtual",
	// "software" (runs on the CPU) or "other".
	Kind      string
	API       string // version of Vulkan, such as "1.3.230"
	Alignment int    // of the address and size of imported memory in bytes; 0 if HostMemory is false
	Offset    int    // alignment of the offset of a Range of a Dispatch in bytes
	MaxRange  int    // largest Range of a Dispatch in bytes
	MaxMemory int    // largest Buffer in bytes
	// HostMemory tells that the driver imports addresses of this process (VK_EXT_external_memory_host).
	HostMemory bool
	// Unusable is the reason why Open refuses the device, empty if it does not.
	Unusable string
}

// usable reports whether Open accepts the device.
func (i Info) usable() bool { return i.Unusable == "" }

// instance is a VkInstance with its functions.
type instance struct {
	table
	handle    uintptr
	messenger uint64
	receiver  uintptr // number of the receiver of messages; 0 for none
	all       []physical
}

// physical is a VkPhysicalDevice.
type physical struct {
	Info
	handle uintptr
	family uint32 // of the queue
	driver uint32 // VkDriverId; 0 below Vulkan 1.2
	limits limits
	memory memoryProperties
}

// List returns the devices of this machine in the order in which Open prefers them. Usable ones come first, then
// integrated before discrete, virtual, software and other ones, then name and ID. So the order does not depend on that
// of the drivers. A machine without a device has an empty list. ctx bounds the drivers; the errors are those of Open.
func List(ctx context.Context, opts ...Option) ([]Info, error) {
	c := configure(opts)
	in, err := within(ctx, nil, func() (*instance, error) { return newInstance(c) }, (*instance).close)
	if err != nil {
		return nil, err
	}
	defer in.close()
	var all []Info
	for _, p := range in.all {
		all = append(all, p.Info)
	}
	return all, nil
}

// newInstance makes an instance and looks at its devices.
func newInstance(c config) (in *instance, err error) {
	l, err := openLoader(c.library)
	if err != nil {
		return nil, err
	}
	l.wrap = c.wrap
	g, err := newTable(l, 0, globalNames)
	if err != nil {
		return nil, err
	}
	in = &instance{}
	var a arena
	defer a.free()
	var layers, extensions []string
	if c.validate != nil {
		if layers, extensions, err = validation(g); err != nil {
			return nil, err
		}
	}
	app := application{sType: typeApplication, name: a.text("anekit"), engine: a.text("anekit"), api: version12}
	info := instanceInfo{sType: typeInstance, application: put(&a, &app), layerCount: uint32(len(layers)),
		layers: a.texts(layers), extensionCount: uint32(len(extensions)), extensions: a.texts(extensions)}
	messenger := messengerInfo{sType: typeMessenger, severities: severityWarning | severityError, types: messageTypes}
	if c.validate != nil {
		in.receiver = register(c.validate)
		messenger.callback, messenger.user = messageCallback(), in.receiver
		info.next = put(&a, &messenger) // for messages about vkCreateInstance itself
	}
	if r := g.call("vkCreateInstance", put(&a, &info), 0, put(&a, &in.handle)); r != success {
		in.handle = 0
		in.close()
		return nil, failed("open", "vkCreateInstance", r)
	}
	if in.table, err = newTable(l, in.handle, instanceNames); err == nil {
		for _, name := range []string{hostPointer, createMessenger, destroyMessenger} {
			in.table[name] = l.find(in.handle, name) // nil where the loader has no such extension
		}
		err = in.look()
	}
	if err == nil && c.validate != nil {
		err = failed("open", createMessenger, in.call(createMessenger, in.handle, put(&a, &messenger), 0, put(&a,
			&in.messenger)))
	}
	if err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

// validation returns the layer and the extension of Validate, if they are installed.
func validation(g table) (layers, extensions []string, err error) {
	const debug = "VK_EXT_debug_utils"
	all, err := enumerate[layerProperties]("vkEnumerateInstanceLayerProperties", func(n, to uintptr) result {
		return g.call("vkEnumerateInstanceLayerProperties", n, to)
	})
	if err != nil {
		return nil, nil, err
	}
	if !slices.ContainsFunc(all, func(p layerProperties) bool { return name(p.name[:]) == validationLayer }) {
		return nil, nil, newError("open", ErrExtension, "",
			validationLayer+" is not installed: on Debian it is in vulkan-validationlayers")
	}
	var a arena
	defer a.free()
	for _, layer := range []uintptr{0, a.text(validationLayer)} {
		found, err := enumerate[extensionProperties]("vkEnumerateInstanceExtensionProperties",
			func(n, to uintptr) result { return g.call("vkEnumerateInstanceExtensionProperties", layer, n, to) })
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(found, func(p extensionProperties) bool { return name(p.name[:]) == debug }) {
			return []string{validationLayer}, []string{debug}, nil
		}
	}
	return nil, nil, newError("open", ErrExtension, "", "the loader has no "+debug)
}

// enumerate calls a function of Vulkan that fills an array whose length it tells.
func enumerate[T any](call string, f func(count, to uintptr) result) ([]T, error) {
	for {
		var a arena
		var n uint32
		r := f(put(&a, &n), 0)
		all := make([]T, n)
		if r == success && n > 0 {
			r = f(put(&a, &n), putAll(&a, all))
		}
		a.free()
		switch {
		case r == incomplete: // there are more of them than a moment ago
		case r != success:
			return nil, failed("open", call, r)
		default:
			return all[:min(int(n), len(all))], nil
		}
	}
}

// name returns the text before the first zero.
func name(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}

// look describes all devices and orders them.
func (in *instance) look() error {
	handles, err := enumerate[uintptr]("vkEnumeratePhysicalDevices", func(n, to uintptr) result {
		return in.call("vkEnumeratePhysicalDevices", in.handle, n, to)
	})
	if err != nil {
		return err
	}
	for _, h := range handles {
		p, err := in.describe(h)
		if err != nil {
			return err
		}
		in.all = append(in.all, p)
	}
	slices.SortStableFunc(in.all, func(a, b physical) int { return before(a.Info, b.Info) })
	return nil
}

// before orders devices by preference.
func before(a, b Info) int {
	rank := func(i Info) int {
		n := slices.Index([]string{"integrated", "discrete", "virtual", "software", "other"}, i.Kind)
		if !i.usable() {
			n += 10
		}
		return n
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
}

const extensionHost = "VK_EXT_external_memory_host"

func (in *instance) describe(h uintptr) (p physical, err error) {
	found, err := enumerate[extensionProperties]("vkEnumerateDeviceExtensionProperties", func(n, to uintptr) result {
		return in.call("vkEnumerateDeviceExtensionProperties", h, 0, n, to)
	})
	if err != nil {
		return p, err
	}
	host := slices.ContainsFunc(found, func(p extensionProperties) bool { return name(p.name[:]) == extensionHost })
	var a arena
	defer a.free()
	imports := hostLimits{sType: typeHostLimits}
	driver := driverProperties{sType: typeDriverProperties}
	more := vulkan11Properties{sType: typeVulkan11, next: put(&a, &driver)}
	if host {
		driver.next = put(&a, &imports)
	}
	props := deviceProperties{sType: typeProperties2}
	in.call("vkGetPhysicalDeviceProperties2", h, put(&a, &props)) // the version, before structures of 1.2 are asked
	if props.api >= version12 {
		props.next = put(&a, &more)
		in.call("vkGetPhysicalDeviceProperties2", h, put(&a, &props))
	}
	in.call("vkGetPhysicalDeviceMemoryProperties", h, put(&a, &p.memory))
	families, err := enumerate[queueFamily]("vkGetPhysicalDeviceQueueFamilyProperties", func(n, to uintptr) result {
		in.call("vkGetPhysicalDeviceQueueFamilyProperties", h, n, to)
		return success
	})
	if err != nil {
		return p, err
	}
	family := slices.IndexFunc(families, func(f queueFamily) bool { return f.flags&queueCompute != 0 && f.count > 0 })
	p.handle, p.family, p.limits, p.driver = h, uint32(max(family, 0)), props.limits, driver.id
	v := props.api
	p.Info = Info{Name: name(props.name[:]), ID: hex.EncodeToString(more.device[:]),
		Driver: strings.TrimSpace(name(driver.name[:]) + " " + name(driver.info[:])),
		API:    fmt.Sprintf("%d.%d.%d", v>>22&0x7f, v>>12&0x3ff, v&0xfff), Offset: int(props.limits.minStorageAlign),
		MaxRange: int(props.limits.maxStorageRange), MaxMemory: int(min(more.maxAllocation, 1<<62)), Kind: "other"}
	if names := []string{"other", "integrated", "discrete", "virtual", "software"}; int(props.kind) < len(names) {
		p.Kind = names[props.kind] // of VkPhysicalDeviceType
	}
	switch {
	case v < version12:
		p.Unusable = "Vulkan " + p.API + " has no timeline semaphores: 1.2 has"
	case family < 0:
		p.Unusable = "it has no queue for compute kernels"
	}
	if host && v >= version12 && in.table[hostPointer] != nil && in.imports(h) {
		p.HostMemory, p.Alignment = true, int(imports.align)
	}
	return p, nil
}

// imports reports whether buffers of this package can be of memory at an address of this process.
func (in *instance) imports(h uintptr) bool {
	var a arena
	defer a.free()
	info := externalBufferInfo{sType: typeExternalBufferInfo, usage: usages, handle: handleHost}
	props := externalBufferProperties{sType: typeExternalBufferProps}
	in.call("vkGetPhysicalDeviceExternalBufferProperties", h, put(&a, &info), put(&a, &props))
	return props.features&importable != 0
}

// choose returns the device that the configuration names.
func (in *instance) choose(c config) (physical, error) {
	choice, source := c.choice, ""
	if !c.chosen {
		choice, source = os.Getenv(envDevice), envDevice+" "
	}
	refuse := func(format string, args ...any) (physical, error) {
		return physical{}, newError("open", ErrDevice, "", fmt.Sprintf(format, args...))
	}
	found := in.all
	if choice != "" {
		found = slices.DeleteFunc(slices.Clone(in.all), func(p physical) bool {
			text := strings.ToLower(choice)
			return !strings.Contains(strings.ToLower(p.Name), text) && !strings.HasPrefix(p.ID, text)
		})
	}
	switch {
	case len(in.all) == 0:
		return refuse("no driver has a device; %s", howToInstall)
	case len(found) == 0:
		return refuse("%s%q fits none of %s", source, choice, in.names())
	case choice == "" && !found[0].usable():
		return refuse("none is usable: %s", in.names())
	case choice != "" && len(found) > 1:
		return refuse("%s%q fits %d devices, give an ID: %s", source, choice, len(found), in.names())
	case !found[0].usable():
		return refuse("%s is not usable: %s", found[0].Name, found[0].Unusable)
	}
	return found[0], nil
}

// names lists all devices for messages.
func (in *instance) names() string {
	var all []string
	for _, p := range in.all {
		text := fmt.Sprintf("%s (%s)", p.Name, p.ID)
		if !p.usable() {
			text += ", " + p.Unusable
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// close destroys the instance.
func (in *instance) close() {
	if in.messenger != 0 {
		in.call(destroyMessenger, in.handle, uintptr(in.messenger), 0)
	}
	if in.handle != 0 && in.table["vkDestroyInstance"] != nil {
		in.call("vkDestroyInstance", in.handle, 0)
	}
	in.handle, in.messenger = 0, 0
	if in.receiver != 0 {
		unregister(in.receiver)
	}
}
