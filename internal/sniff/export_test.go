package sniff

import "fmt"

// String returns "PATH is what; next".
func (f Found) String() string { return fmt.Sprintf("%s is %s; %s", f.Path, f.What, f.Next) }
