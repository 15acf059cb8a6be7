//! What is read of a call, and what is replaced in it.

use patchbay_wire::{
    CallParams, ResultFlags, Token, WireError, request, result_flags, set, splice, spliced_request,
};
use serde_json::value::RawValue;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn spliced(params: &str, name: Option<&str>, token: Token<'_>) -> Result<String, WireError> {
    splice(&raw(params), name, token).map(|params| params.get().to_owned())
}

#[test]
fn a_call_is_read_without_touching_its_arguments() {
    let params =
        raw(r#"{"arguments" : {"x": 1e400}, "n\u0061me": "echo", "_meta":{"progressToken":"t"}, "task": 1}"#);
    let call = CallParams::decode(&params).unwrap();
    assert_eq!(call.name, "echo");
    assert_eq!(call.arguments.unwrap().get(), r#"{"x": 1e400}"#);
    assert_eq!(call.progress_token().unwrap().get(), "\"t\"");
    let params = raw(r#"{"name":"echo","_meta":{"progressToken":null}}"#);
    assert!(CallParams::decode(&params).unwrap().progress_token().is_none());
}

#[test]
fn a_call_with_two_readings_is_refused() {
    let decode = |params: &str| CallParams::decode(&raw(params)).map(|call| call.name.into_owned());
    for (params, key) in [
        (r#"{"name":"safe","name":"risky"}"#, "name"),
        (r#"{"name":"safe","Name":"risky"}"#, "name"),
        (r#"{"name":"safe","n\u0061me":"risky"}"#, "name"),
        (r#"{"NAME":"risky"}"#, "name"),
        (r#"{"name":"x","arguments":{},"Arguments":{"rm":1}}"#, "arguments"),
        (r#"{"name":"x","arguments":{},"argumentſ":{"rm":1}}"#, "arguments"),
    ] {
        assert_eq!(decode(params), Err(WireError::Ambiguous(key)), "{params}");
    }
    assert_eq!(decode(r#"{"name":"x","names":1,"my_name":2}"#).as_deref(), Ok("x"));
    assert_eq!(decode("{}"), Err(WireError::NoName));
    assert_eq!(decode(r#"{"name":5}"#), Err(WireError::NoName));
    assert_eq!(decode("[]"), Err(WireError::NotAnObject("params")));
}

#[test]
fn only_the_name_and_the_token_change() {
    let odd = "{ \"z\":1.0,\n \"name\" : \"fs_read\", \"arguments\":{\"name\":\"n\",\"big\":12345678901234567890123},\t\"_meta\" : { \"k\":-0.0 , \"progressToken\" : 5 }, \"z\":2 }";
    assert_eq!(spliced(odd, Some("read"), Token::Keep).unwrap(), odd.replace("fs_read", "read"));
    assert_eq!(spliced(odd, None, Token::Set("4294967297")).unwrap(), odd.replace(": 5 ", ": 4294967297 "));
    assert_eq!(
        spliced(odd, Some("a\"b"), Token::Set("\"t\"")).unwrap(),
        odd.replace("fs_read", "a\\\"b").replace(": 5 ", ": \"t\" ")
    );
    assert_eq!(spliced(odd, None, Token::Keep).unwrap(), odd);
}

#[test]
fn a_token_is_put_in_where_there_is_none() {
    let set = |params: &str| spliced(params, None, Token::Set("9")).unwrap();
    assert_eq!(set(r#"{"name":"a"}"#), r#"{"name":"a","_meta":{"progressToken":9}}"#);
    assert_eq!(set("{ }"), r#"{"_meta":{"progressToken":9} }"#);
    assert_eq!(set(r#"{"_meta":{},"name":"a"}"#), r#"{"_meta":{"progressToken":9},"name":"a"}"#);
    assert_eq!(set(r#"{"_meta":{"k":[1, 2] }}"#), r#"{"_meta":{"k":[1, 2],"progressToken":9 }}"#);
    assert_eq!(set(r#"{"_meta":null}"#), r#"{"_meta":{"progressToken":9}}"#);
}

#[test]
fn a_token_is_removed_with_its_comma() {
    let remove = |meta: &str| spliced(&format!("{{\"_meta\":{meta}}}"), None, Token::Remove).unwrap();
    assert_eq!(remove(r#"{"progressToken":1}"#), r#"{"_meta":{}}"#);
    assert_eq!(remove(r#"{"progressToken":1, "a":2}"#), r#"{"_meta":{"a":2}}"#);
    assert_eq!(remove(r#"{"a":2 , "progressToken":1 }"#), r#"{"_meta":{"a":2 }}"#);
    assert_eq!(remove(r#"{"a":2,"progressToken":1,"b":3}"#), r#"{"_meta":{"a":2,"b":3}}"#);
    assert_eq!(remove(r#"{"a":2,"progressToken":1,"progressToken":[4]}"#), r#"{"_meta":{"a":2}}"#);
    assert_eq!(
        remove(r#"{"progressToken":1,"progressToken":2,"a":3,"progressToken":4}"#),
        r#"{"_meta":{"a":3}}"#
    );
    assert_eq!(remove(r#"{"progressToken":1,"progressToken":2}"#), r#"{"_meta":{}}"#);
    assert_eq!(remove("null"), r#"{"_meta":null}"#);
}

#[test]
fn what_cannot_be_spliced_is_an_error() {
    assert_eq!(spliced("[]", None, Token::Keep), Err(WireError::NotAnObject("params")));
    assert_eq!(spliced("{}", Some("x"), Token::Keep), Err(WireError::NoName));
    assert_eq!(spliced(r#"{"_meta":5}"#, None, Token::Set("1")), Err(WireError::NotAnObject("_meta")));
    for hostile in ["", "1,\"name\":\"x\"", "{", "1}"] {
        assert_eq!(
            spliced("{}", None, Token::Set(hostile)),
            Err(WireError::NotJson("progressToken")),
            "{hostile}"
        );
        assert!(spliced_request(1, "m", &raw("{}"), None, Token::Set(hostile)).is_err(), "{hostile}");
    }
}

#[test]
fn a_spliced_request_equals_splicing_and_then_asking() {
    let params = raw("{\n\"name\": \"p_x\",\r\n\"_meta\": {\"progressToken\": \"a\", \"k\": 1}}");
    for (name, token) in
        [(Some("x"), Token::Set("77")), (None, Token::Keep), (None, Token::Remove), (Some("y"), Token::Keep)]
    {
        let apart = request(3, "tools/call", Some(&splice(&params, name, token).unwrap()));
        assert_eq!(spliced_request(3, "tools/call", &params, name, token).unwrap(), apart);
    }
}

#[test]
fn any_member_of_an_object_can_be_set() {
    let set = |object: &str, value: Option<&str>| {
        set(&raw(object), "requestId", value).map(|object| object.get().to_owned())
    };
    assert_eq!(
        set(r#"{"requestId":1,"reason":"x"}"#, Some("\"a\"")).unwrap(),
        r#"{"requestId":"a","reason":"x"}"#
    );
    assert_eq!(set(r#"{"reason":"x"}"#, Some("2")).unwrap(), r#"{"reason":"x","requestId":2}"#);
    assert_eq!(set(r#"{"requestId":1,"reason":"x"}"#, None).unwrap(), r#"{"reason":"x"}"#);
    assert_eq!(set("1", None), Err(WireError::NotAnObject("the value")));
    assert_eq!(set("{}", Some("{")), Err(WireError::NotJson("requestId")));
}

#[test]
fn the_flags_of_a_result_are_found_at_its_top_only() {
    let flags = |result: &str| {
        let result = raw(result);
        let ResultFlags { is_error, result_type } = result_flags(&result);
        (is_error, result_type.map(std::borrow::Cow::into_owned))
    };
    assert_eq!(flags(r#"{"content":[{"isError":true}],"isError":false}"#), (false, None));
    assert_eq!(
        flags(r#"{"isError" : true ,"resultType":"input_required"}"#),
        (true, Some("input_required".into()))
    );
    assert_eq!(flags(r#"{"isError":"true"}"#), (false, None));
    assert_eq!(flags(r#"{"content":"\"isError\":true"}"#), (false, None));
    assert_eq!(flags("[]"), (false, None));
}
