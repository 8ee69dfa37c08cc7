//! A page with a sentence.

use truetail_page::SitePlace;
use truetail_page::browse::message_page;
use truetail_page::web::Response;

/// Returns a page with a sentence, which begins with a capital letter there.
pub(super) fn message(title: &str, sentence: &str) -> Response {
    let links = vec![("All runs".to_owned(), "/".to_owned())];
    let site = SitePlace { links, ..SitePlace::default() };
    let mut rest = sentence.chars();
    let first: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    Response::html(message_page(title, &format!("{first}{}.", rest.as_str()), &site))
}
