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

// Kind is the kind of a device.
type Kind int

// The kinds of VkPhysicalDeviceType.
const (
	Other      Kind = iota
	Integrated      // shares the memory of the CPU
	Discrete        // reaches Blocks over a bus
	Virtual
	Software // runs on the CPU
)

// String returns the kind in lower case.
func (k Kind) String() string {
	names := []string{"other", "integrated", "discrete", "virtual", "software"}
	if k < 0 || int(k) >= len(names) {
		return "other"
	}
	return names[k]
}

// Info describes a device.
type Info struct {
	Name      string // of the device
	Driver    string // name and version of the driver
	ID        string // deviceUUID in hexadecimal digits: the same at every start
	Kind      Kind
	API       string // version of Vulkan, such as "1.3.230"
	Alignment int    // of the address and size of imported memory in bytes; 0 if HostMemory is false
	Offset    int    // alignment of the offset of a Range of a Dispatch in bytes
	MaxRange  int    // largest Range of a Dispatch in bytes
	MaxMemory int    // largest Buffer in bytes
	// HostMemory and DMABuf are what the driver imports: addresses of this process (VK_EXT_external_memory_host), and
	// dma-bufs (VK_EXT_external_memory_dma_buf), which udmabuf of Linux makes of memfds.
	HostMemory, DMABuf bool
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
	handle  uintptr
	family  uint32 // of the queue
	limits  limits
	memory  memoryProperties
	extends []string // the extensions that Open enables
}

// List returns the devices of this machine in the order in which Open prefers them: usable ones first, integrated
// before discrete, virtual, software and other ones, then by name and ID. So the order does not depend on that of the
// drivers. A machine without a device has an empty list. ctx bounds the drivers; the errors are those of Open.
func List(ctx context.Context, opts ...Option) ([]Info, error) {
	in, err := openInstance(ctx, configure(opts))
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

// openInstance makes an instance and looks at its devices, without ctx being able to wait for a driver.
func openInstance(ctx context.Context, c config) (*instance, error) {
	return within(ctx, nil, func() (*instance, error) { return newInstance(c) }, (*instance).close)
}

func newInstance(c config) (in *instance, err error) {
	l, err := openLoader(c.library)
	if err != nil {
		return nil, err
	}
	l.wrap = c.wrap
	g := globals{createInstance: l.find(0, "vkCreateInstance"),
		extensions: l.find(0, "vkEnumerateInstanceExtensionProperties"),
		layers:     l.find(0, "vkEnumerateInstanceLayerProperties"), version: l.find(0, "vkEnumerateInstanceVersion")}
	if g.createInstance == nil || g.extensions == nil || g.layers == nil || g.version == nil {
		return nil, &Error{Op: "open", Err: ErrUnavailable, Hint: "the loader is older than Vulkan 1.1"}
	}
	in = &instance{}
	var a arena
	defer a.free()
	var layers, extensions []string
	if c.validate != nil {
		if layers, extensions, err = validation(&g); err != nil {
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
	if r := g.createInstance(put(&a, &info), 0, put(&a, &in.handle)); r != success {
		in.handle = 0
		in.close()
		return nil, failed("open", "vkCreateInstance", r)
	}
	if err = in.load(l, in.handle); err == nil && c.validate != nil {
		if in.createMessenger == nil || in.destroyMessenger == nil {
			err = &Error{Op: "open", Err: ErrExtension, Hint: "the loader has no VK_EXT_debug_utils"}
		} else {
			err = failed("open", "vkCreateDebugUtilsMessengerEXT", in.createMessenger(in.handle, put(&a, &messenger), 0,
				put(&a, &in.messenger)))
		}
	}
	if err == nil {
		err = in.look()
	}
	if err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

// validation returns the layer and the extension of Validate, if they are installed.
func validation(g *globals) (layers, extensions []string, err error) {
	const debug = "VK_EXT_debug_utils"
	all, err := enumerate[layerProperties]("vkEnumerateInstanceLayerProperties", func(n, to uintptr) result {
		return g.layers(n, to)
	})
	if err != nil {
		return nil, nil, err
	}
	if !slices.ContainsFunc(all, func(p layerProperties) bool { return name(p.name[:]) == ValidationLayer }) {
		return nil, nil, &Error{Op: "open", Err: ErrExtension,
			Hint: ValidationLayer + " is not installed: on Debian it is " +
				"in vulkan-validationlayers"}
	}
	var a arena
	defer a.free()
	for _, layer := range []uintptr{0, a.text(ValidationLayer)} {
		found, err := enumerate[extensionProperties]("vkEnumerateInstanceExtensionProperties",
			func(n, to uintptr) result { return g.extensions(layer, n, to) })
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(found, func(p extensionProperties) bool { return name(p.name[:]) == debug }) {
			return []string{ValidationLayer}, []string{debug}, nil
		}
	}
	return nil, nil, &Error{Op: "open", Err: ErrExtension, Hint: "the loader has no " + debug}
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
		return in.physicalDevices(in.handle, n, to)
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
		n := slices.Index([]Kind{Integrated, Discrete, Virtual, Software, Other}, i.Kind)
		if !i.usable() {
			n += 10
		}
		return n
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
}

// The extensions that Open enables where the driver has them.
const (
	extensionHost   = "VK_EXT_external_memory_host"
	extensionFd     = "VK_KHR_external_memory_fd"
	extensionDMABuf = "VK_EXT_external_memory_dma_buf"
)

func (in *instance) describe(h uintptr) (p physical, err error) {
	found, err := enumerate[extensionProperties]("vkEnumerateDeviceExtensionProperties", func(n, to uintptr) result {
		return in.deviceExtensions(h, 0, n, to)
	})
	if err != nil {
		return p, err
	}
	has := func(extension string) bool {
		return slices.ContainsFunc(found, func(p extensionProperties) bool { return name(p.name[:]) == extension })
	}
	var a arena
	defer a.free()
	host := hostLimits{sType: typeHostLimits}
	driver := driverProperties{sType: typeDriverProperties}
	large := maintenance3{sType: typeMaintenance3}
	id := idProperties{sType: typeIDProperties}
	chain := uintptr(0)
	if has(extensionHost) {
		chain = put(&a, &host)
	}
	props := deviceProperties{sType: typeProperties2}
	in.properties(h, put(&a, &props)) // the version, before structures of 1.2 are asked
	if props.api >= version12 {
		driver.next, chain = chain, put(&a, &driver)
	}
	if props.api >= version11 {
		large.next, chain = chain, put(&a, &large)
		id.next, chain = chain, put(&a, &id)
	}
	props.next = chain
	in.properties(h, put(&a, &props))
	in.memory(h, put(&a, &p.memory))
	families, err := enumerate[queueFamily]("vkGetPhysicalDeviceQueueFamilyProperties", func(n, to uintptr) result {
		in.families(h, n, to)
		return success
	})
	if err != nil {
		return p, err
	}
	family := slices.IndexFunc(families, func(f queueFamily) bool { return f.flags&queueCompute != 0 && f.count > 0 })
	p.handle, p.family, p.limits = h, uint32(max(family, 0)), props.limits
	v := props.api
	p.Info = Info{Name: name(props.name[:]), ID: hex.EncodeToString(id.device[:]),
		Driver: strings.TrimSpace(name(driver.name[:]) + " " + name(driver.info[:])),
		API:    fmt.Sprintf("%d.%d.%d", v>>22&0x7f, v>>12&0x3ff, v&0xfff), Offset: int(props.limits.minStorageAlign),
		MaxRange: int(props.limits.maxStorageRange), MaxMemory: int(min(large.maxAllocation, 1<<62))}
	if props.kind <= uint32(Software) {
		p.Kind = Kind(props.kind)
	}
	switch {
	case v < version12:
		p.Unusable = "Vulkan " + p.API + " has no timeline semaphores: 1.2 has"
	case family < 0:
		p.Unusable = "it has no queue for compute kernels"
	}
	if has(extensionHost) && in.imports(h, handleHost) {
		p.HostMemory, p.Alignment = true, int(host.align)
		p.extends = append(p.extends, extensionHost)
	}
	if has(extensionFd) && has(extensionDMABuf) && in.imports(h, handleDMABuf) {
		p.DMABuf = true
		p.extends = append(p.extends, extensionFd, extensionDMABuf)
	}
	return p, nil
}

// imports reports whether buffers of this package can be of imported memory.
func (in *instance) imports(h uintptr, handle uint32) bool {
	var a arena
	defer a.free()
	info := externalBufferInfo{sType: typeExternalBufferInfo, usage: usages, handle: handle}
	props := externalBufferProperties{sType: typeExternalBufferProps}
	in.externalBuffer(h, put(&a, &info), put(&a, &props))
	return props.features&importable != 0
}

// choose returns the device that the configuration names.
func (in *instance) choose(c config) (physical, error) {
	choice, source := c.choice, ""
	if !c.chosen {
		choice, source = os.Getenv(EnvDevice), EnvDevice+" "
	}
	if len(in.all) == 0 {
		return physical{}, &Error{Op: "open", Err: ErrDevice, Hint: "no driver has a device; " + howToInstall}
	}
	if choice == "" {
		if p := in.all[0]; p.usable() {
			return p, nil
		}
		return physical{}, &Error{Op: "open", Err: ErrDevice, Hint: "none is usable: " + in.names()}
	}
	var found []physical
	for _, p := range in.all {
		if strings.Contains(strings.ToLower(p.Name), strings.ToLower(choice)) ||
			strings.HasPrefix(p.ID, strings.ToLower(choice)) {
			found = append(found, p)
		}
	}
	switch {
	case len(found) == 1 && found[0].usable():
		return found[0], nil
	case len(found) == 1:
		return physical{}, &Error{Op: "open", Err: ErrDevice,
			Hint: found[0].Name + " is not usable: " + found[0].Unusable}
	case len(found) > 1:
		return physical{}, &Error{Op: "open", Err: ErrDevice, Hint: fmt.Sprintf("%s%q fits %d devices, give an ID: %s",
			source, choice, len(found), in.names())}
	}
	return physical{}, &Error{Op: "open", Err: ErrDevice, Hint: fmt.Sprintf("%s%q fits none of %s", source, choice,
		in.names())}
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
		in.destroyMessenger(in.handle, uintptr(in.messenger), 0)
	}
	if in.handle != 0 && in.destroyInstance != nil {
		in.destroyInstance(in.handle, 0)
	}
	in.handle, in.messenger = 0, 0
	if in.receiver != 0 {
		unregister(in.receiver)
	}
}
