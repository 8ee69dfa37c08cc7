"""A list of items for those who have logged in, and orders; login and logout are Django's own."""

from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_required
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.views.decorators.http import require_GET, require_POST

from shop.models import Item, Order


@require_GET
@login_required
def items(request):
    return render(request, "items.html", {"items": Item.objects.order_by("pk")})


@require_POST
@login_required
def orders(request):
    quantity = request.POST.get("quantity", "")
    if not (quantity.isdecimal() and 1 <= int(quantity) <= 9):
        return render(request, "refused.html", status=400)
    item = get_object_or_404(Item, pk=request.POST.get("item"))
    order = Order.objects.create(
        user=request.user, session=request.session.session_key, item=item, quantity=int(quantity)
    )
    total = f"{item.price_cents * order.quantity / 100:.2f}"
    return render(request, "order.html", {"order": order, "total": total}, status=201)


urlpatterns = [
    path("login/", auth.LoginView.as_view(template_name="login.html")),
    path("logout/", auth.LogoutView.as_view()),
    path("items/", items),
    path("orders/", orders),
]
