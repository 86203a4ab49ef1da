package objcbridge

import (
	"cmp"
	"fmt"
	"slices"
)

// abiVersion is the ANEB_VERSION of src/bridge.h that this package uses.
const abiVersion = 6

// library is a loaded bridge: the addresses of its functions.
type library struct {
	path string // empty: part of the binary

	version, open, close, selfCheck, deviceInfo, registry, usageNow uintptr
	surfaceWrap, surfaceUnlock, surfaceLock, surfaceRelease         uintptr
	programCreate, programCompile, programLoad, programUnload       uintptr
	programPurge, programRelease, programInspect, programAttributes uintptr
	programPatience, programReside, foldersNow                      uintptr
	requestCreate, requestRelease, evaluate                         uintptr
}

// functions maps every function of src/bridge.h to its field.
func (l *library) functions() map[string]*uintptr {
	return map[string]*uintptr{
		"aneb_version":            &l.version,
		"aneb_open":               &l.open,
		"aneb_close":              &l.close,
		"aneb_self_check":         &l.selfCheck,
		"aneb_device_info":        &l.deviceInfo,
		"aneb_registry":           &l.registry,
		"aneb_folders_now":        &l.foldersNow,
		"aneb_usage_now":          &l.usageNow,
		"aneb_surface_wrap":       &l.surfaceWrap,
		"aneb_surface_unlock":     &l.surfaceUnlock,
		"aneb_surface_lock":       &l.surfaceLock,
		"aneb_surface_release":    &l.surfaceRelease,
		"aneb_program_create":     &l.programCreate,
		"aneb_program_patience":   &l.programPatience,
		"aneb_program_reside":     &l.programReside,
		"aneb_program_compile":    &l.programCompile,
		"aneb_program_load":       &l.programLoad,
		"aneb_program_unload":     &l.programUnload,
		"aneb_program_purge":      &l.programPurge,
		"aneb_program_release":    &l.programRelease,
		"aneb_program_inspect":    &l.programInspect,
		"aneb_program_attributes": &l.programAttributes,
		"aneb_request_create":     &l.requestCreate,
		"aneb_request_release":    &l.requestRelease,
		"aneb_evaluate":           &l.evaluate,
	}
}

// fill looks up the functions and checks the version. lookup returns 0 for a missing symbol. fill
// checks the version first, because another version may have other functions.
func (l *library) fill(lookup func(symbol string) uintptr) error {
	var missing []string
	for symbol, address := range l.functions() {
		if *address = lookup(symbol); *address == 0 {
			missing = append(missing, symbol)
		}
	}
	origin := cmp.Or(l.path, "the bridge in this binary")
	if l.version != 0 {
		if v := uint32(call(l.version)); v != abiVersion {
			return fmt.Errorf("%s has version %d of the bridge's C interface, this binary needs %d", origin, v,
				uint32(abiVersion))
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("%s is not a bridge library: it lacks %d functions, %s first", origin, len(missing), missing[0])
	}
	return nil
}
