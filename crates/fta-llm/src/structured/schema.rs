//! JSON Schemas of replies, in the form that servers and constrained decoders take.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

use super::items::DROPS_BAD_ITEMS;

/// The JSON Schema that a reply of type `T` is held to.
///
/// Sub-schemas stand in place (no `$ref`), every object names all its properties as required and allows no others, and
/// names and descriptions are left out. Bounds (`maxLength`, `maxItems`) are there where the type has them.
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut schema = full_schema_of::<T>();
    for_each_schema(&mut schema, &mut |fields| {
        fields.shift_remove(DROPS_BAD_ITEMS);
    });
    schema
}

/// The schema with lists marked that may lose items.
pub(super) fn full_schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.inline_subschemas = true;
        s.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    for_each_schema(&mut schema, &mut tidy);
    schema
}

/// The schema with another bound on the length of the list `property` of its root; without such a list, as it is.
pub fn with_max_items(mut schema: Value, property: &str, most: usize) -> Value {
    if let Some(Value::Object(list)) = schema.pointer_mut(&format!("/properties/{property}")) {
        list.insert("maxItems".to_owned(), most.into());
    }
    schema
}

/// The schema without bounds on lengths and numbers, for servers that refuse them.
pub fn without_bounds(schema: &Value) -> Value {
    let mut schema = schema.clone();
    for_each_schema(&mut schema, &mut |fields| {
        for bound in ["minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern"] {
            fields.shift_remove(bound);
        }
    });
    schema
}

fn tidy(fields: &mut Map<String, Value>) {
    for name in ["$schema", "$defs", "title", "description", "default", "format"] {
        fields.shift_remove(name);
    }
    // Variants with comments come as alternatives of one value each.
    if let Some(Value::Array(variants)) = fields.get("oneOf") {
        let values: Option<Vec<Vec<Value>>> = variants
            .iter()
            .map(|v| match (v.get("const"), v.get("enum")) {
                (Some(value), _) => Some(vec![value.clone()]),
                (None, Some(Value::Array(values))) => Some(values.clone()),
                _ => None,
            })
            .collect();
        if let Some(values) = values.map(|v| v.concat()) {
            fields.shift_remove("oneOf");
            fields.insert("type".to_owned(), "string".into());
            fields.insert("enum".to_owned(), values.into());
        }
    }
    if let Some(Value::Object(properties)) = fields.get("properties") {
        let names: Vec<Value> = properties.keys().map(|name| name.as_str().into()).collect();
        fields.insert("required".to_owned(), names.into());
        fields.insert("additionalProperties".to_owned(), false.into());
    }
}

/// Applies `change` to a schema and all schemas within it.
fn for_each_schema(schema: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    let Value::Object(fields) = schema else { return };
    change(fields);
    for (name, inner) in fields.iter_mut() {
        match (name.as_str(), inner) {
            ("properties", Value::Object(properties)) => {
                for schema in properties.values_mut() {
                    for_each_schema(schema, change);
                }
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                for schema in schemas {
                    for_each_schema(schema, change);
                }
            }
            ("items", inner) => for_each_schema(inner, change),
            _ => {}
        }
    }
}
