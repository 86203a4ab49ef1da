#import "internal.h"

int32_t aneb_wrong(aneb_error *e, int32_t stage, NSString *key, const char *type) {
    char name[128];
    aneb_text_from(name, sizeof name, key);
    return aneb_fail(e, stage, ANEB_MISSING, 0, "modelAttributes has no %s at %s; this version of the framework is not known",
                     type, name);
}

id aneb_value(id dictionary, NSString *key, Class type) {
    if (![dictionary isKindOfClass:[NSDictionary class]]) return nil;
    id found = [dictionary objectForKey:key];
    return [found isKindOfClass:type] ? found : nil;
}

NSString *aneb_base_name(NSString *name) {
    return [name hasSuffix:@"@output"] ? [name substringToIndex:[name length] - 7] : name;
}

// One entry of LiveInputList or LiveOutputList.
static int32_t read_entry(aneb_program *p, NSDictionary *entry, aneb_symbol *out, int32_t stage, aneb_error *e) {
    out->depth = out->interleave = 1; // absent from older lists
    const struct {
        NSString *key;
        int64_t *to;
        bool required;
    } numbers[] = {
        {@"Batches", &out->batches, true},        {@"BatchStride", &out->batch_stride, true},
        {@"Channels", &out->channels, true},      {@"PlaneStride", &out->plane_stride, true},
        {@"Height", &out->height, true},          {@"RowStride", &out->row_stride, true},
        {@"Width", &out->width, true},            {@"Depth", &out->depth, false},
        {@"DepthStride", &out->depth_stride, false}, {@"PlaneCount", &out->plane_count, false},
        {@"Interleave", &out->interleave, false},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        NSNumber *number = aneb_value(entry, numbers[i].key, [NSNumber class]);
        if (number != nil) *numbers[i].to = [number longLongValue];
        if ((number == nil && numbers[i].required) || *numbers[i].to < 0)
            return aneb_wrong(e, stage, numbers[i].key, "number of zero or more");
    }
    int64_t bytes = 0; // a surface needs this many
    if (__builtin_mul_overflow(out->batches, out->batch_stride, &bytes) || bytes == 0)
        return aneb_wrong(e, stage, @"BatchStride", "possible size");
    NSString *type = aneb_value(entry, @"Type", [NSString class]);
    if (type == nil) return aneb_wrong(e, stage, @"Type", "string");
    out->type = aneb_name_keep(p, type);
    return out->type == NULL ? aneb_wrong(e, stage, @"Type", "memory for the string") : ANEB_OK;
}

static NSDictionary *find(NSArray *list, NSString *name) {
    for (id entry in list) {
        NSString *found = aneb_value(entry, @"Name", [NSString class]);
        if (found != nil && [aneb_base_name(found) isEqualToString:name]) return entry;
    }
    return nil;
}

int32_t aneb_layout_read(aneb_program *p, NSArray *list, NSString *key, NSString *name, aneb_symbol *out, int32_t stage,
                         aneb_error *e) {
    NSDictionary *entry = find(list, name);
    if (entry == nil) return aneb_wrong(e, stage, key, "entry for every symbol");
    return read_entry(p, entry, out, stage, e);
}
